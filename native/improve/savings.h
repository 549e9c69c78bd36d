// First routes of a CVRP: those are joined that save most (Clarke and Wright 1964).

#pragma once

#include <tuple>

#include "neighbours.h"
#include "pieces.h"

namespace metasage::improve {

class Savings {
public:
    // Near nodes of each customer that it may be joined with.
    static constexpr int NEIGHBOURS = 40;

    Savings(const Lengths &lengths, std::vector<int64_t> demand, int64_t capacity)
        : lengths_(lengths), load_(std::move(demand)), capacity_(capacity) {}

    // Routes without the depot, which is node 0.
    std::vector<std::vector<int>> build() {
        Pieces pieces(lengths_.nodes());
        const auto offer = [&](int a, int b) {
            if (!pieces.can_join(a, b)) return;
            const int64_t joint = load_[pieces.find(a)] + load_[pieces.find(b)];
            if (joint <= capacity_) load_[pieces.join(a, b)] = joint;
        };
        // Nothing saves a customer more than to come along with another of the same place.
        const std::vector<int> nodes = by_place();
        for (size_t i = 1; i < nodes.size(); ++i)
            if (is_twin(nodes[i - 1], nodes[i])) offer(nodes[i - 1], nodes[i]);
        for (const Pair &pair : by_saving()) offer(pair.a, pair.b);
        std::vector<std::vector<int>> routes;
        std::vector<char> used(lengths_.nodes(), 0);
        for (int node = 1; node < lengths_.nodes(); ++node) {
            if (used[node] || !pieces.is_end(node)) continue;
            routes.emplace_back();
            pieces.walk(node, routes.back());
            for (const int one : routes.back()) used[one] = 1;
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

    std::vector<Pair> by_saving() const {
        std::vector<Pair> pairs;
        const Neighbours neighbours(lengths_, NEIGHBOURS);
        for (int a = 1; a < lengths_.nodes(); ++a)
            for (const Neighbours::One &near : neighbours.of(a)) {
                if (near.node == 0) continue;
                const double apart = lengths_(0, a) + lengths_(0, near.node);
                if (near.length <= apart) pairs.push_back({apart - near.length, a, near.node});
            }
        std::sort(pairs.begin(), pairs.end(), [](const Pair &a, const Pair &b) {
            return std::tie(b.saving, a.a, a.b) < std::tie(a.saving, b.a, b.b);
        });
        return pairs;
    }

    const Lengths &lengths_;
    std::vector<int64_t> load_;  // of the piece that a node stands for
    int64_t capacity_;
};

}  // namespace metasage::improve
