// Brings a choice of nodes back within the problem's bound, and up to it.

#pragma once

#include "improve/random.h"
#include "improve/tour/state.h"

namespace metasage::improve {

class Balance {
public:
    Balance(State &state, Random &random) : state_(state), task_(state.task), random_(random) {}

    // Makes the tour feasible if anything can.
    void restore() {
        if (state_.feasible()) return;
        if (task_.goal == Goal::most_prize)
            shed();
        else
            gather();
    }

    // Makes use of what the bound leaves, with at most so many nodes. `late` is asked now and
    // then and ends it early.
    template <class Late>
    void use_slack(int most, Late late) {
        int looked = 0;
        const auto over = [&] { return ++looked % BETWEEN_LOOKS == 0 && late(); };
        if (task_.goal == Goal::most_prize)
            fill(most, over);
        else
            trim(most, over);
    }

    // Nodes that are looked at after a kick, so that it stays cheap in a large instance.
    static constexpr int SAMPLE = 200;

private:
    static constexpr int BETWEEN_LOOKS = 256;

    struct Ranked {
        double rate;
        int node;
        bool operator<(const Ranked &other) const {
            return rate != other.rate ? rate < other.rate : node > other.node;
        }
    };

    // Drops what saves the most length for its prize.
    void shed() {
        rank_tour(state_.tour.size());
        greedily(
            [&](int node) {
                // Of twins, neither saves anything while the other is there.
                const double saved = std::max(state_.saving(node), task_.least_gain);
                return ratio(saved, task_.prize[node]);
            },
            [&](int node) { state_.drop(node); }, [&] { return state_.feasible(); });
    }

    // Inserts what costs least for its prize, until there is enough of it.
    void gather() {
        for (const int most : {SAMPLE, state_.tour.nodes()}) {
            rank_others(most);
            greedily(
                [&](int node) {
                    const double cost = state_.best_place(node).detour - task_.penalty[node];
                    return ratio(task_.prize[node], std::max(cost, 0.0));
                },
                [&](int node) { state_.insert(node, state_.best_place(node)); },
                [&] { return state_.feasible(); });
            if (state_.feasible()) return;
        }
    }

    // Inserts what fits, most prize for its length first.
    template <class Over>
    void fill(int most, Over over) {
        rank_others(most);
        greedily(
            [&](int node) {
                const double longer = state_.best_place(node).detour;
                const bool fits = state_.totals.length + longer <= task_.bound;
                return fits ? ratio(task_.prize[node], std::max(longer, 0.0)) : 0.0;
            },
            [&](int node) { state_.insert(node, state_.best_place(node)); }, over);
    }

    // Drops what costs more than its penalty as long as enough prize remains.
    template <class Over>
    void trim(int most, Over over) {
        rank_tour(most);
        greedily(
            [&](int node) {
                const bool enough = state_.totals.prize - task_.prize[node] >= task_.bound;
                const double gain = state_.saving(node) - task_.penalty[node];
                return enough && gain > task_.least_gain ? ratio(gain, task_.prize[node]) : 0.0;
            },
            [&](int node) { state_.drop(node); }, over);
    }

    // At most so many nodes, side by side in the tour.
    void rank_tour(int most) {
        ranked_.clear();
        const Tour &tour = state_.tour;
        const int some = std::min(most, tour.size());
        const int from = some < tour.size() ? random_.below(tour.size()) : 0;
        for (int i = 0; i < some; ++i) {
            const int node = tour.at(tour.wrapped(from + i));
            if (node != 0) ranked_.push_back({0.0, node});
        }
    }

    void rank_others(int most) {
        ranked_.clear();
        const int nodes = state_.tour.nodes(), from = random_.below(nodes);
        for (int i = 0; i < nodes && int(ranked_.size()) < most; ++i) {
            const int node = (from + i) % nodes;
            if (!state_.tour.contains(node)) ranked_.push_back({0.0, node});
        }
    }

    // Acts on the ranked nodes in the order of their rates, which are renewed as
    // the tour changes; rates that are not positive are left aside.
    template <class Rate, class Act, class Done>
    void greedily(Rate rate, Act act, Done done) {
        size_t kept = 0;
        for (const Ranked &one : ranked_) {
            const double now = rate(one.node);
            if (now > 0.0) ranked_[kept++] = {now, one.node};
        }
        ranked_.resize(kept);
        std::make_heap(ranked_.begin(), ranked_.end());
        while (!ranked_.empty() && !done()) {
            std::pop_heap(ranked_.begin(), ranked_.end());
            const int node = ranked_.back().node;
            ranked_.pop_back();
            const double now = rate(node);
            if (now <= 0.0) continue;
            if (ranked_.empty() || now >= ranked_.front().rate) {
                act(node);
            } else {
                ranked_.push_back({now, node});
                std::push_heap(ranked_.begin(), ranked_.end());
            }
        }
    }

    // Nothing for nothing is not worth a move.
    static double ratio(double good, double bad) {
        return bad > 0.0 ? good / bad : (good > 0.0 ? INFINITY : 0.0);
    }

    State &state_;
    const TourTask &task_;
    Random &random_;
    std::vector<Ranked> ranked_;
};

}  // namespace metasage::improve
