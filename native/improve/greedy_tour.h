// A first tour through all nodes: short edges first, then the pieces are chained.

#pragma once

#include <tuple>

#include "neighbours.h"

namespace metasage::improve {

class GreedyTour {
public:
    GreedyTour(const Lengths &lengths, const Neighbours &neighbours)
        : lengths_(lengths), neighbours_(neighbours), links_(lengths.nodes(), {-1, -1}),
          root_(lengths.nodes()) {}

    std::vector<int> build() {
        std::iota(root_.begin(), root_.end(), 0);
        link_short_edges();
        return chain();
    }

private:
    struct Edge {
        double length;
        int a, b;
    };

    int find(int node) {
        while (root_[node] != node) node = root_[node] = root_[root_[node]];
        return node;
    }

    bool is_free(int node) const { return links_[node][1] < 0; }

    void link_short_edges() {
        std::vector<Edge> edges;
        for (int a = 0; a < lengths_.nodes(); ++a)
            for (const Neighbours::One &near : neighbours_.of(a))
                edges.push_back({near.length, a, near.node});
        std::sort(edges.begin(), edges.end(), [](const Edge &a, const Edge &b) {
            return std::tie(a.length, a.a, a.b) < std::tie(b.length, b.a, b.b);
        });
        for (const Edge &edge : edges)
            if (is_free(edge.a) && is_free(edge.b) && find(edge.a) != find(edge.b)) {
                root_[find(edge.a)] = find(edge.b);
                link(edge.a, edge.b);
                link(edge.b, edge.a);
            }
    }

    void link(int from, int to) { links_[from][links_[from][0] < 0 ? 0 : 1] = to; }

    // Walks each piece from one end to the other, then goes on to the nearest end.
    std::vector<int> chain() {
        std::vector<int> order, open;
        std::vector<char> used(lengths_.nodes(), 0);
        for (int node = 0; node < lengths_.nodes(); ++node)
            if (is_free(node)) open.push_back(node);
        int node = open.empty() ? 0 : open.front();
        for (;;) {
            for (int before = -1; node >= 0;) {
                order.push_back(node);
                used[node] = 1;
                const std::array<int, 2> &link = links_[node];
                const int ahead = link[0] != before ? link[0] : link[1];
                before = node;
                node = ahead;
            }
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
    std::vector<std::array<int, 2>> links_;
    std::vector<int> root_;
};

}  // namespace metasage::improve
