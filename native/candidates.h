// The nodes that a step decides between: the nearest that are allowed, and the depot.

#pragma once

#include "open_nodes.h"
#include "rules.h"

namespace metasage::METASAGE_LEVEL {

class Candidates {
public:
    explicit Candidates(const Decoder &decoder)
        : decoder_(decoder), most_(size_t(decoder.neighbours)) {}

    void use(int64_t instance) { coords_ = decoder_.coords + 2 * instance * decoder_.nodes; }

    void open_all(OpenNodes &open, const Rules &rules) const {
        // The candidates then fill a few cells.
        open.reset(coords_, int32_t(decoder_.nodes), rules.has_depot(),
                   std::max<int64_t>(1, decoder_.neighbours / 8));
    }

    bool allows(const Rules &rules, const State &state, const OpenNodes &open,
                int32_t node) const {
        if (node < 0 || node >= decoder_.nodes) return false;
        if (rules.has_depot() && node == 0) return rules.depot_allowed(state);
        return open.holds(node) && rules.in_reach(state, node);
    }

    // Finds the candidates of a step in ascending order; a given node that is allowed
    // is one of them. Without a current node, all nodes are.
    const std::vector<int32_t> &find(const Rules &rules, const State &state, const OpenNodes &open,
                                     int32_t given) {
        found_.clear();
        if (state.current < 0)
            open.each([&](int32_t node) { found_.push_back(node); });
        else
            find_nearest(rules, state, open);
        if (rules.has_depot() && rules.depot_allowed(state)) found_.push_back(0);
        const bool known = std::find(found_.begin(), found_.end(), given) != found_.end();
        if (!known && allows(rules, state, open, given)) found_.push_back(given);
        std::sort(found_.begin(), found_.end());
        return found_;
    }

private:
    // Ring by ring around the current node, as far as any of the nearest can be.
    void find_nearest(const Rules &rules, const State &state, const OpenNodes &open) {
        near_.clear();
        uint64_t furthest = UINT64_MAX;
        int ring = 0;
        const auto add_ring = [&] {
            open.each_in_ring(state.current, ring++, [&](int32_t node) {
                if (!rules.in_reach(state, node)) return;
                const uint64_t key = nearness(coords_, state.current, node);
                if (key < furthest) near_.push_back(key);
            });
        };
        while (ring < open.rings() && near_.size() < most_) add_ring();
        if (near_.size() >= most_) {
            furthest = cut();
            // With some allowance for the rounding of cells and distances.
            const double reach = 1.00001 * distance_of(furthest) / open.width();
            while (ring < open.rings() && ring - 1 < reach) add_ring();
            cut();
        }
        for (const uint64_t key : near_) found_.push_back(int32_t(uint32_t(key)));
    }

    // Keeps the nearest, and returns the furthest of them.
    uint64_t cut() {
        const auto last = near_.begin() + int64_t(most_ - 1);
        if (near_.size() > most_) std::nth_element(near_.begin(), last, near_.end());
        near_.resize(most_);
        return *std::max_element(near_.begin(), near_.end());
    }

    const Decoder &decoder_;
    size_t most_;
    const float *coords_ = nullptr;
    std::vector<int32_t> found_;
    std::vector<uint64_t> near_;
};

}  // namespace metasage::METASAGE_LEVEL
