// The nodes that a step decides between: the nearest that are allowed, and the depot.

#pragma once

#include "rollout/near_lists.h"
#include "rollout/rules.h"

namespace metasage::METASAGE_LEVEL {

class Candidates {
public:
    explicit Candidates(const Decoder &decoder)
        : decoder_(decoder), most_(size_t(decoder.neighbours)), marks_(decoder.nodes / 64 + 1) {}

    void use(int64_t instance, const NearLists &lists) {
        coords_ = decoder_.coords + 2 * instance * decoder_.nodes;
        lists_ = &lists;
    }

    void open_all(OpenNodes &open, const Rules &rules) const {
        // The candidates then fill a few cells.
        open.reset(coords_, int32_t(decoder_.nodes), rules.has_depot(),
                   std::max<int64_t>(1, decoder_.neighbours / 8));
    }

    bool allows(const Rules &rules, const State &state, const OpenNodes &open, int32_t node) const {
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
            find_near(rules, state, open);
        if (rules.has_depot() && rules.depot_allowed(state)) found_.push_back(0);
        const bool known = std::find(found_.begin(), found_.end(), given) != found_.end();
        if (!known && allows(rules, state, open, given)) found_.push_back(given);
        sort();
        return found_;
    }

private:
    // In the list of the current node, or in the grid if that holds too few.
    void find_near(const Rules &rules, const State &state, const OpenNodes &open) {
        const auto accept = [&](int32_t node) { return rules.in_reach(state, node); };
        const int32_t *list = lists_->of(state.current);
        for (int64_t i = 0; i < lists_->length() && found_.size() < most_; ++i)
            if (open.holds(list[i]) && accept(list[i])) found_.push_back(list[i]);
        if (found_.size() == most_ || lists_->is_complete()) return;
        found_.clear();
        find_nearest(open, coords_, state.current, most_, accept, near_);
        for (const uint64_t key : near_) found_.push_back(int32_t(uint32_t(key)));
    }

    // By marks, word by word: there are few words for each node found.
    void sort() {
        for (const int32_t node : found_) marks_[node / 64] |= uint64_t(1) << (node % 64);
        found_.clear();
        for (size_t word = 0; word < marks_.size(); ++word)
            for (; marks_[word] != 0; marks_[word] &= marks_[word] - 1)
                found_.push_back(int32_t(word * 64) + __builtin_ctzll(marks_[word]));
    }

    const Decoder &decoder_;
    size_t most_;
    const float *coords_ = nullptr;
    const NearLists *lists_ = nullptr;
    std::vector<int32_t> found_;
    std::vector<uint64_t> near_, marks_;
};

}  // namespace metasage::METASAGE_LEVEL
