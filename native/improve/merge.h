// Joins the improvements that several lanes made to the same tour.

#pragma once

#include "state.h"

namespace metasage::improve {

class Merge {
public:
    explicit Merge(State &state) : state_(state) {}

    // Repeats a change where all its edges are still there and one tour remains.
    void repeat(const State::Change &change) {
        cancel(change);
        move_.edges = int(removed_.size());
        if (move_.edges < 2 || move_.edges > Exchange::MOST) return;
        for (int edge = 0; edge < move_.edges; ++edge) {
            const auto [a, b] = removed_[edge];
            if (state_.tour.next(a) != b && state_.tour.prev(a) != b) return;
            move_.ends[2 * edge] = a;
            move_.ends[2 * edge + 1] = b;
        }
        std::fill_n(move_.partner, 2 * move_.edges, -1);
        for (const auto &[a, b] : added_) {
            const int from = free_end(a), to = free_end(b);
            if (from < 0 || to < 0) return;
            move_.join(from, to);
        }
        if (!move_.keeps_one_tour(state_.tour)) return;
        state_.exchange(move_);
        state_.keep();
    }

private:
    using Edges = std::vector<std::pair<int, int>>;

    // A kick and its repair remove and add some edges twice.
    void cancel(const State::Change &change) {
        const auto ordered = [](const Edges &edges, Edges &result) {
            result.clear();
            for (const auto &[a, b] : edges) result.emplace_back(std::minmax(a, b));
            std::sort(result.begin(), result.end());
        };
        Edges removed, added;
        ordered(change.removed, removed);
        ordered(change.added, added);
        const auto without = [](const Edges &from, const Edges &these, Edges &result) {
            result.clear();
            std::set_difference(from.begin(), from.end(), these.begin(), these.end(),
                                std::back_inserter(result));
        };
        without(removed, added, removed_);
        without(added, removed, added_);
    }

    // A node both of whose edges leave has two ends; either may come first.
    int free_end(int node) const {
        for (int i = 0; i < 2 * move_.edges; ++i)
            if (move_.ends[i] == node && move_.partner[i] < 0) return i;
        return -1;
    }

    State &state_;
    Exchange move_;
    Edges removed_, added_;
};

}  // namespace metasage::improve
