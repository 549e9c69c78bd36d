// Local search around new edges: a move replaces an edge by a shorter one to a near node.

#pragma once

#include "improve/queue.h"
#include "improve/routes/move.h"
#include "improve/routes/verify.h"

namespace metasage::improve {

class Descent {
public:
    Descent(const RoutesTask &task, Plan &plan)
        : task_(task), plan_(plan), queue_(4 * task.nodes()) {}

    // Goes on until no end of an edge that is new, or becomes so, offers an improvement.
    template <class Late>
    void run(Late late) {
        take_changes();
        for (int64_t turn = 0; !queue_.empty(); ++turn) {
            const int end = queue_.pop();
            if (turn % BETWEEN_LOOKS == BETWEEN_LOOKS - 1 && late()) return queue_.clear();
            while (plan_.route_of(end / 2) != Plan::NOWHERE && improve(end / 2, end % 2))
                take_changes();
        }
    }

private:
    // Near nodes of a customer that it may be linked with.
    static constexpr int NEAR = 15;
    // Customers that are moved together at most.
    static constexpr int SHIFTED = 3;
    static constexpr int64_t BETWEEN_LOOKS = 256;

    void take_changes() {
        plan_.take_changed_ends(ends_);
        for (const int end : ends_)
            if (!plan_.is_depot(end / 2)) queue_.push(end);
    }

    bool improve(int u, bool back) {
        best_ = {};
        best_.gain = task_.least_gain;
        const int next = plan_.ahead(u, back);
        const double replaced = plan_.edge(u, back);
        int left = NEAR;
        for (const Neighbours::One &near : task_.neighbours.of(u)) {
            if (left-- == 0) break;
            const double length = task_.directed ? directed(u, near.node, back) : near.length;
            if (length >= replaced) {
                if (task_.directed) continue;
                break;
            }
            if (plan_.route_of(near.node) == Plan::NOWHERE || near.node == next) continue;
            look({replaced - length, Move::Kind::none, back, false, u, near.node, near.node}, next);
        }
        if (best_.kind == Move::Kind::none) return false;
        const double promised = plan_.length() - best_.gain;
        carry_out();
        if constexpr (VERIFYING) verify_length(plan_, promised);
        return true;
    }

    // All moves that link u and v.
    void look(Move move, int nu) {
        const bool same = plan_.route_of(move.u) == plan_.route_of(move.v);
        for (const bool back_v : {false, true}) {
            move.back_v = back_v;
            shifts(move, nu, same);
            if (!same) cross(move, nu);
        }
        move.back_v = false;
        if (same)
            turn(move, nu);
        else
            exchange(move, nu);
    }

    void shifts(Move move, int nu, bool same) {
        const int x = plan_.ahead(move.v, !move.back_v);
        if (same && x == move.u) return;
        const int64_t room = same ? task_.capacity : plan_.room(plan_.route_of(move.u));
        const double base = move.gain + plan_.edge(move.v, !move.back_v);
        move.kind = Move::Kind::shift;
        int64_t load = 0;
        int w = move.v;
        for (int count = 0; count < SHIFTED; ++count) {
            if (plan_.is_depot(w) || w == move.u || w == nu) return;
            load += task_.demand[w];
            if (load > room) return;
            const int y = plan_.ahead(w, move.back_v);
            // A customer alone has no direction.
            if (count > 0 || !move.back_v) {
                move.w = w;
                move.gain = base + plan_.edge(w, move.back_v) - directed(w, nu, move.back) -
                            directed(x, y, move.back_v);
                offer(move);
            }
            w = y;
        }
    }

    // One for one; in which direction v is seen does not matter.
    void exchange(Move move, int nu) {
        if (plan_.is_depot(nu)) return;
        const int64_t more = task_.demand[move.v] - task_.demand[nu];
        if (more > plan_.room(plan_.route_of(move.u))) return;
        if (-more > plan_.room(plan_.route_of(move.v))) return;
        const int after = plan_.ahead(nu, move.back);
        move.kind = Move::Kind::exchange;
        move.w = move.v;
        move.gain += plan_.edge(nu, move.back) + plan_.edge(move.v, false) +
                     plan_.edge(move.v, true) - directed(move.v, after, move.back);
        if (move.gain <= best_.gain) return;
        move.gain -= plan_.between(plan_.prev(move.v), nu) + plan_.between(nu, plan_.next(move.v));
        offer(move);
    }

    void cross(Move move, int nu) {
        const int a = plan_.route_of(move.u), b = plan_.route_of(move.v);
        const int64_t mine = carried(move.u, move.back), taken = carried(move.v, !move.back_v);
        if (mine + taken > task_.capacity) return;
        if (plan_.load(a) - mine + plan_.load(b) - taken > task_.capacity) return;
        move.kind = Move::Kind::cross;
        move.gain += plan_.edge(move.v, !move.back_v) -
                     directed(plan_.ahead(move.v, !move.back_v), nu, move.back);
        offer(move);
    }

    void turn(Move move, int nu) {
        const int nv = plan_.ahead(move.v, move.back);
        if (nv == move.u) return;
        move.kind = Move::Kind::turn;
        move.gain += plan_.edge(move.v, move.back) - directed(nu, nv, move.back);
        offer(move);
    }

    // Load from the depot to a customer, seen in a direction.
    int64_t carried(int node, bool back) {
        const int64_t forth = plan_.way(node).load;
        return back ? plan_.load(plan_.route_of(node)) - forth + task_.demand[node] : forth;
    }

    double directed(int a, int b, bool back) const {
        return task_.directed && back ? plan_.between(b, a) : plan_.between(a, b);
    }

    void offer(Move &move) {
        if (move.gain > best_.gain && (task_.plain || is_possible(move))) best_ = move;
    }

    // Corrects the gain where parts are turned, and looks at the limit of a route.
    bool is_possible(Move &move) {
        Outcome outcome(plan_, move);
        const int a = plan_.route_of(move.u), b = plan_.route_of(move.v);
        const double first = outcome.duration(outcome.first);
        const double second = a == b ? 0.0 : outcome.duration(outcome.second);
        move.gain = plan_.duration(a) - first;
        if (a != b) move.gain += plan_.duration(b) - second;
        return move.gain > best_.gain && std::max(first, second) <= task_.longest;
    }

    void carry_out() {
        const Outcome outcome(plan_, best_);
        const int a = plan_.route_of(best_.u), b = plan_.route_of(best_.v);
        outcome.write(outcome.first, first_);
        if (a != b) outcome.write(outcome.second, second_);
        plan_.set_route(a, first_);
        if (a != b) plan_.set_route(b, second_);
    }

    const RoutesTask &task_;
    Plan &plan_;
    WorkQueue queue_;
    Move best_;
    std::vector<int> ends_, first_, second_;
};

}  // namespace metasage::improve
