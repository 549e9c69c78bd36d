// The nearest customers of every node, in order: where rollouts look first.

#pragma once

#include "rollout/open_nodes.h"

namespace metasage::METASAGE_LEVEL {

// Appends the keys (see `nearness`) of the nearest open nodes that `accept` takes, as many
// as `most` if there are so many, in no order. Goes ring by ring around a node, as far as
// any of the nearest can be.
template <class Accept>
inline void find_nearest(const OpenNodes &open, const float *coords, int32_t from, size_t most,
                         Accept accept, std::vector<uint64_t> &near) {
    near.clear();
    uint64_t furthest = UINT64_MAX;
    int ring = 0;
    const auto add_ring = [&] {
        open.each_in_ring(from, ring++, [&](int32_t node) {
            if (!accept(node)) return;
            const uint64_t key = nearness(coords, from, node);
            if (key < furthest) near.push_back(key);
        });
    };
    const auto cut = [&] {
        const auto last = near.begin() + int64_t(most - 1);
        if (near.size() > most) std::nth_element(near.begin(), last, near.end());
        near.resize(most);
        return *std::max_element(near.begin(), near.end());
    };
    while (ring < open.rings() && near.size() < most) add_ring();
    if (near.size() < most) return;
    furthest = cut();
    // With some allowance for the rounding of cells and distances.
    const double reach = 1.00001 * distance_of(furthest) / open.width();
    while (ring < open.rings() && ring - 1 < reach) add_ring();
    cut();
}

class NearLists {
public:
    // Lists of some length of all nodes; customers begin at number `first`.
    void build(const float *coords, int32_t nodes, int32_t first, int64_t length) {
        length_ = std::min<int64_t>(length, nodes - first);
        ids_.resize(nodes * length_);
        OpenNodes open;
        open.reset(coords, nodes, first, std::max<int64_t>(1, length_ / 8));
        std::vector<uint64_t> near;
        for (int32_t node = 0; node < nodes; ++node) {
            find_nearest(open, coords, node, size_t(length_), [](int32_t) { return true; }, near);
            std::sort(near.begin(), near.end());
            int32_t *list = ids_ + node * length_;
            for (const uint64_t key : near) *list++ = int32_t(uint32_t(key));
        }
        is_complete_ = length_ == nodes - first;
    }

    // The nearest customers of a node, itself among them, nearest first.
    const int32_t *of(int32_t node) const { return ids_ + node * length_; }
    int64_t length() const { return length_; }
    // Whether there are no others.
    bool is_complete() const { return is_complete_; }

private:
    int64_t length_ = 0;
    bool is_complete_ = false;
    Buffer<int32_t> ids_;
};

}  // namespace metasage::METASAGE_LEVEL
