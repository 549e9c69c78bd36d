// A first tour through all nodes: short edges first, then the pieces are chained.

#pragma once

#include <tuple>

#include "improve/neighbours.h"
#include "improve/pieces.h"

namespace metasage::improve {

class GreedyTour {
public:
    GreedyTour(const Lengths &lengths, const Neighbours &neighbours)
        : lengths_(lengths), neighbours_(neighbours), pieces_(lengths.nodes()) {}

    std::vector<int> build() {
        link_short_edges();
        return chain();
    }

private:
    struct Edge {
        double length;
        int a, b;
    };

    void link_short_edges() {
        std::vector<Edge> edges;
        for (int a = 0; a < lengths_.nodes(); ++a)
            for (const Neighbours::One &near : neighbours_.of(a))
                edges.push_back({near.length, a, near.node});
        std::sort(edges.begin(), edges.end(), [](const Edge &a, const Edge &b) {
            return std::tie(a.length, a.a, a.b) < std::tie(b.length, b.a, b.b);
        });
        for (const Edge &edge : edges)
            if (pieces_.can_join(edge.a, edge.b)) pieces_.join(edge.a, edge.b);
    }

    // Walks each piece from one end to the other, then goes on to the nearest end.
    std::vector<int> chain() {
        std::vector<int> order, open;
        std::vector<char> used(lengths_.nodes(), 0);
        for (int node = 0; node < lengths_.nodes(); ++node)
            if (pieces_.is_end(node)) open.push_back(node);
        int node = open.empty() ? 0 : open.front();
        for (;;) {
            const size_t from = order.size();
            pieces_.walk(node, order);
            for (size_t i = from; i < order.size(); ++i) used[order[i]] = 1;
            open.erase(std::remove_if(open.begin(), open.end(), [&](int end) { return used[end]; }),
                       open.end());
            if (open.empty()) return order;
            node = *std::min_element(open.begin(), open.end(), [&](int a, int b) {
                return lengths_(order.back(), a) < lengths_(order.back(), b);
            });
        }
    }

    const Lengths &lengths_;
    const Neighbours &neighbours_;
    Pieces pieces_;
};

}  // namespace metasage::improve
