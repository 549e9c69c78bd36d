// A change of one route or two, and what the routes become by it.

#pragma once

#include <array>

#include "improve/routes/plan.h"

namespace metasage::improve {

// Directions are seen from a node: `back` is against the order of its route.
struct Move {
    enum class Kind {
        none,
        shift,     // v .. w come between u and what follows it
        exchange,  // v and what follows u change places
        turn,      // the edges after u and v of one route become u-v and the rest turned
        cross,     // the part up to u goes on with v and what follows that
    };

    double gain = 0.0;
    Kind kind = Kind::none;
    bool back = false, back_v = false;
    int u = 0, v = 0, w = 0;
};

// Customers one after another in one of the old routes, from the first to the last in a direction.
struct Part {
    int first, last;
    bool back;
};

// A new route: parts of old ones, seen in a direction.
struct Sequence {
    bool back = false;
    int count = 0;
    std::array<Part, 4> parts{};

    void add(const Plan &plan, int first, int last, bool backwards) {
        // Between depots there may be nothing.
        if (!plan.is_depot(first) && !plan.is_depot(last))
            parts[count++] = {first, last, backwards};
    }
};

// What a move makes of the route of u, and of that of v if it is another.
class Outcome {
public:
    Outcome(Plan &plan, const Move &move) : plan_(plan) {
        const auto &[gain, kind, back, back_v, u, v, w] = move;
        const int a = plan.route_of(u), b = plan.route_of(v), nu = plan.ahead(u, back);
        const int x = plan.ahead(v, !back_v), y = plan.ahead(w, back_v);
        first.back = back;
        second.back = back_v;
        if (kind == Move::Kind::cross) {
            first.add(plan, start(a, back), u, back);
            first.add(plan, v, start(b, !back_v), back_v);
            second.back = !back;
            second.add(plan, start(a, !back), nu, !back);
            second.add(plan, x, start(b, back_v), !back_v);
        } else if (kind == Move::Kind::turn) {
            const bool v_is_ahead = comes_before(u, v, back);
            const int left = v_is_ahead ? u : v, right = v_is_ahead ? v : u;
            first.add(plan, start(a, back), left, back);
            first.add(plan, right, plan.ahead(left, back), !back);
            first.add(plan, plan.ahead(right, back), start(a, !back), back);
        } else if (a == b) {  // a shift
            const int before = back == back_v ? x : y, after = back == back_v ? y : x;
            if (comes_before(u, v, back)) {
                first.add(plan, start(a, back), u, back);
                first.add(plan, v, w, back_v);
                first.add(plan, nu, before, back);
                first.add(plan, after, start(a, !back), back);
            } else {
                first.add(plan, start(a, back), before, back);
                first.add(plan, after, u, back);
                first.add(plan, v, w, back_v);
                first.add(plan, nu, start(a, !back), back);
            }
        } else {
            const bool given = kind == Move::Kind::exchange;
            first.add(plan, start(a, back), u, back);
            first.add(plan, v, w, back_v);
            first.add(plan, given ? plan.ahead(nu, back) : nu, start(a, !back), back);
            second.add(plan, start(b, back_v), x, back_v);
            if (given) second.add(plan, nu, nu, back_v);
            second.add(plan, y, start(b, !back_v), back_v);
        }
    }

    Sequence first, second;

    double duration(const Sequence &sequence) {
        if (sequence.count == 0) return 0.0;
        // The number of a depot does not matter.
        const int depot = plan_.depot_of(0);
        double sum = 0.0;
        int at = depot;
        for (int i = 0; i < sequence.count; ++i) {
            const Part &part = sequence.parts[i];
            sum += directed(at, part.first, sequence.back) + inside(part, sequence.back);
            at = part.last;
        }
        return sum + directed(at, depot, sequence.back);
    }

    // Customers in the order in which they are visited.
    void write(const Sequence &sequence, std::vector<int> &nodes) const {
        nodes.clear();
        for (int i = 0; i < sequence.count; ++i) {
            const Part &part = sequence.parts[i];
            for (int node = part.first;; node = plan_.ahead(node, part.back)) {
                nodes.push_back(node);
                if (node == part.last) break;
            }
        }
        if (sequence.back) std::reverse(nodes.begin(), nodes.end());
    }

private:
    int start(int route, bool back) const { return plan_.ahead(plan_.depot_of(route), back); }

    bool comes_before(int a, int b, bool back) {
        return (plan_.way(a).position < plan_.way(b).position) != back;
    }

    double directed(int a, int b, bool back) const {
        return back ? plan_.duration(b, a) : plan_.duration(a, b);
    }

    double inside(const Part &part, bool back) {
        const Plan::Way from = plan_.way(part.back ? part.last : part.first);
        const Plan::Way to = plan_.way(part.back ? part.first : part.last);
        return part.back == back ? to.forth - from.forth : to.back - from.back;
    }

    Plan &plan_;
};

}  // namespace metasage::improve
