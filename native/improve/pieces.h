// Paths that grow together: nodes are linked, end to end, until nothing fits.

#pragma once

#include <array>
#include <numeric>
#include <vector>

namespace metasage::improve {

class Pieces {
public:
    explicit Pieces(int nodes) : links_(nodes, {-1, -1}), root_(nodes) {
        std::iota(root_.begin(), root_.end(), 0);
    }

    // Whether a node is the end of a piece.
    bool is_end(int node) const { return links_[node][1] < 0; }

    // The node that stands for the piece that a node belongs to.
    int find(int node) {
        while (root_[node] != node) node = root_[node] = root_[root_[node]];
        return node;
    }

    bool can_join(int a, int b) { return is_end(a) && is_end(b) && find(a) != find(b); }

    // Links the ends of two pieces; returns what stands for both from now on.
    int join(int a, int b) {
        const int kept = find(b);
        root_[find(a)] = kept;
        link(a, b);
        link(b, a);
        return kept;
    }

    // Appends a piece, from one of its ends to the other.
    void walk(int from, std::vector<int> &order) const {
        for (int node = from, before = -1; node >= 0;) {
            order.push_back(node);
            const std::array<int, 2> &link = links_[node];
            const int ahead = link[0] != before ? link[0] : link[1];
            before = node;
            node = ahead;
        }
    }

private:
    void link(int from, int to) { links_[from][links_[from][0] < 0 ? 0 : 1] = to; }

    std::vector<std::array<int, 2>> links_;
    std::vector<int> root_;
};

}  // namespace metasage::improve
