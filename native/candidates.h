// The nodes that a step decides between: the nearest that are allowed, and the depot.

#pragma once

#include "neighbours.h"
#include "rules.h"

namespace metasage::METASAGE_LEVEL {

// The customers that one rollout has not visited yet.
class OpenNodes {
public:
    void reset(int32_t nodes, int32_t first) {
        if (place_.size() != nodes) {
            place_.resize(nodes);
            nodes_.resize(nodes);
        }
        for (int32_t node = 0; node < first; ++node) place_[node] = -1;
        for (int32_t node = first; node < nodes; ++node) {
            place_[node] = node - first;
            nodes_[node - first] = node;
        }
        count_ = nodes - first;
    }

    void visit(int32_t node) {
        const int32_t place = place_[node];
        if (place < 0) return;
        const int32_t last = nodes_[--count_];
        nodes_[place] = last;
        place_[last] = place;
        place_[node] = -1;
    }

    bool holds(int32_t node) const { return place_[node] >= 0; }
    int count() const { return count_; }
    const int32_t *begin() const { return nodes_; }
    const int32_t *end() const { return nodes_ + count_; }

private:
    Buffer<int32_t> place_, nodes_;
    int32_t count_ = 0;
};

class Candidates {
public:
    // Length of the lists, in numbers of neighbours: nodes nearby are soon visited.
    static constexpr int64_t RESERVE = 4;

    explicit Candidates(const Decoder &decoder) : nodes_(decoder.nodes), most_(decoder.neighbours) {}

    bool allows(const Rules &rules, const State &state, const OpenNodes &open,
                int32_t node) const {
        if (node < 0 || node >= nodes_) return false;
        if (rules.has_depot() && node == 0) return rules.depot_allowed(state);
        return open.holds(node) && rules.in_reach(state, node);
    }

    // Finds the candidates of a step in ascending order; a given node that is allowed
    // is one of them. Without a current node, all nodes are.
    const std::vector<int32_t> &find(const NeighbourLists &lists, const Rules &rules,
                                     const State &state, const OpenNodes &open, int32_t given) {
        found_.clear();
        if (state.current < 0)
            found_.assign(open.begin(), open.end());
        else if (open.count() <= lists.length() || !find_in_list(lists, rules, state, open))
            find_among_all(lists.coords(), rules, state, open);
        if (rules.has_depot() && rules.depot_allowed(state)) found_.push_back(0);
        const bool known = std::find(found_.begin(), found_.end(), given) != found_.end();
        if (!known && allows(rules, state, open, given)) found_.push_back(given);
        std::sort(found_.begin(), found_.end());
        return found_;
    }

private:
    bool find_in_list(const NeighbourLists &lists, const Rules &rules, const State &state,
                      const OpenNodes &open) {
        const int32_t *list = lists.of(state.current);
        for (int i = 0; i < lists.length() && int64_t(found_.size()) < most_; ++i)
            if (open.holds(list[i]) && rules.in_reach(state, list[i])) found_.push_back(list[i]);
        return int64_t(found_.size()) == most_;
    }

    void find_among_all(const float *coords, const Rules &rules, const State &state,
                        const OpenNodes &open) {
        by_nearness_.clear();
        for (const int32_t node : open)
            if (rules.in_reach(state, node))
                by_nearness_.push_back(nearness(coords, state.current, node));
        if (int64_t(by_nearness_.size()) > most_) {
            std::nth_element(by_nearness_.begin(), by_nearness_.begin() + most_,
                             by_nearness_.end());
            by_nearness_.resize(most_);
        }
        found_.clear();
        for (const uint64_t key : by_nearness_) found_.push_back(int32_t(uint32_t(key)));
    }

    int64_t nodes_, most_;
    std::vector<int32_t> found_;
    std::vector<uint64_t> by_nearness_;
};

}  // namespace metasage::METASAGE_LEVEL
