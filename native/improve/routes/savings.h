// First routes of a CVRP: those are joined that save most (Clarke and Wright 1964).

#pragma once

#include <tuple>

#include "improve/pieces.h"
#include "improve/routes/task.h"

namespace metasage::improve {

class Savings {
public:
    explicit Savings(const RoutesTask &task)
        : task_(task), lengths_(task.lengths), load_(task.demand), duration_(task.nodes()) {
        for (int node = 1; node < task.nodes(); ++node)
            duration_[node] = there(node) + back(node) + task.service[node];
    }

    // The number of vehicles is not looked at.
    Routes build() {
        Pieces pieces(lengths_.nodes());
        const auto offer = [&](int a, int b) {
            if (!pieces.can_join(a, b)) return;
            const int first = pieces.find(a), second = pieces.find(b);
            const int64_t load = load_[first] + load_[second];
            const double duration = duration_[first] + duration_[second] - saving(a, b);
            if (load > task_.capacity || duration > task_.longest) return;
            const int joint = pieces.join(a, b);
            load_[joint] = load;
            duration_[joint] = duration;
        };
        // Nothing saves a customer more than to come along with another of the same place.
        const std::vector<int> nodes = by_place();
        for (size_t i = 1; i < nodes.size(); ++i)
            if (is_twin(nodes[i - 1], nodes[i])) offer(nodes[i - 1], nodes[i]);
        for (const Pair &pair : by_saving()) offer(pair.a, pair.b);
        Routes routes;
        std::vector<char> used(lengths_.nodes(), 0);
        for (int node = 1; node < lengths_.nodes(); ++node) {
            if (used[node] || !pieces.is_end(node)) continue;
            routes.emplace_back();
            pieces.walk(node, routes.back());
            for (const int one : routes.back()) used[one] = 1;
            if (task_.directed) routes.back() = better_way_round(routes.back());
        }
        return routes;
    }

private:
    struct Pair {
        double saving;
        int a, b;
    };

    // The customers, those of one place one after another.
    std::vector<int> by_place() const {
        std::vector<int> nodes;
        if (!lengths_.has_places()) return nodes;
        for (int node = 1; node < lengths_.nodes(); ++node) nodes.push_back(node);
        std::sort(nodes.begin(), nodes.end(), [&](int a, int b) {
            const Point p = lengths_.points()[a], q = lengths_.points()[b];
            return std::tie(p.x, p.y, a) < std::tie(q.x, q.y, b);
        });
        return nodes;
    }

    bool is_twin(int a, int b) const {
        const Point p = lengths_.points()[a], q = lengths_.points()[b];
        return p.x == q.x && p.y == q.y && lengths_(a, b) == 0.0;
    }

    // Ends are joined whatever the direction, which is chosen afterwards.
    double there(int node) const { return lengths_(0, node); }
    double back(int node) const { return lengths_(node, 0); }
    double saving(int a, int b) const {
        const double apart = 0.5 * (there(a) + back(a) + there(b) + back(b));
        return apart - 0.5 * (lengths_(a, b) + lengths_(b, a));
    }

    std::vector<int> better_way_round(const std::vector<int> &route) const {
        const std::vector<int> turned(route.rbegin(), route.rend());
        return length(turned) < length(route) ? turned : route;
    }

    double length(const std::vector<int> &route) const {
        double sum = there(route.front()) + back(route.back());
        for (size_t i = 1; i < route.size(); ++i) sum += lengths_(route[i - 1], route[i]);
        return sum;
    }

    std::vector<Pair> by_saving() const {
        std::vector<Pair> pairs;
        for (int a = 1; a < lengths_.nodes(); ++a) {
            const Neighbours::Row near = task_.neighbours.of(a);
            const int count = std::min(NEIGHBOURS, task_.neighbours.count());
            for (const Neighbours::One *one = near.from; one < near.from + count; ++one)
                if (one->node != 0 && saving(a, one->node) >= 0.0)
                    pairs.push_back({saving(a, one->node), a, one->node});
        }
        std::sort(pairs.begin(), pairs.end(), [](const Pair &a, const Pair &b) {
            return std::tie(b.saving, a.a, a.b) < std::tie(a.saving, b.a, b.b);
        });
        return pairs;
    }

    // Near nodes of each customer that it may be joined with.
    static constexpr int NEIGHBOURS = 40;

    const RoutesTask &task_;
    const Lengths &lengths_;
    std::vector<int64_t> load_;  // of the piece that a node stands for
    std::vector<double> duration_;
};

}  // namespace metasage::improve
