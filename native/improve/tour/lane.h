// One iterated local search: kick a small part of the tour, descend, keep or undo.

#pragma once

#include "improve/tour/balance.h"

namespace metasage::improve {

class TourLane {
public:
    TourLane(const TourTask &task, uint64_t seed)
        : task_(task), random_(seed), state_(task), balance_(state_, random_) {}

    const std::vector<int> &best() const { return best_; }
    const Totals &best_totals() const { return best_totals_; }

    // Starts from a tour that may be infeasible where nodes can be left out.
    void adopt(const std::vector<int> &order) {
        state_.adopt(order);
        remember();
    }

    // Shortens the tour, restores the bound, and makes use of what it leaves.
    template <class Late>
    void prepare(Late late) {
        state_.choice = State::Choice::fixed;
        state_.tour.journaling = false;
        for (const int node : state_.tour.order()) state_.queue.push(node);
        state_.descend(late);
        if (task_.selective()) {
            balance_.restore();
            balance_.use_slack(state_.tour.nodes(), late);
            state_.descend(late);
        }
        state_.tour.journaling = true;
        conclude();
    }

    // Down to a local optimum.
    template <class Late>
    void descend(Late late) {
        prepare(late);
        if (!task_.selective()) return;
        if (state_.price == 0.0) set_first_price();
        state_.choice = State::Choice::priced;
        for (int node = 0; node < state_.tour.nodes(); ++node) state_.queue.push(node);
        state_.descend(late);
        // The way back from a tour far beyond the bound would take long; the one before stays.
        if (late()) return;
        balance(late);
        decide(0.0);
        conclude();
    }

    // One kick and what follows it. With heat, tours that are worse by about that
    // length may take the place of the present one (Kirkpatrick et al. 1983).
    template <class Late>
    void step(double heat, Late late) {
        const bool choosing = task_.selective();
        if (choosing) state_.choice = State::Choice::priced;
        if (task_.goal == Goal::most_prize && random_.below(BETWEEN_MOVES) == 0)
            move_on();
        else if (choosing && (state_.tour.size() < FEWEST_NODES || random_.below(2) == 0))
            toggle();
        else
            bridge();
        state_.descend(late);
        if (task_.goal == Goal::least_cost) {
            settle(heat);
            if (++settled_ % BETWEEN_PROBES == 0) probe(late);
            return;
        }
        if (choosing) balance(late);
        decide(heat);
    }

    void measure() {
        state_.measure();
        state_.keep();
    }
    double mean_edge() const { return state_.totals.length / std::max(1, state_.tour.size()); }

private:
    static constexpr int FEWEST_NODES = 8;
    // Longest part of the tour that a kick moves.
    static constexpr int PART = 50;
    // Kicks for each one that leaves a part of the plane for another, and most nodes that it drops.
    static constexpr int BETWEEN_MOVES = 16, LONGEST_STRETCH = 500;
    // How fast the price follows the bound. Where it stands for the least prize it may be
    // nothing at all, and has to be found first.
    static constexpr double RATE = 0.02, FIRST_RATE = 0.5;
    // How fast the price of a PCTSP follows after that, and how many nodes' prize is much.
    static constexpr double SLOW_RATE = 0.001, MUCH = 5.0;
    // Kicks for each look at the tour within the bound.
    static constexpr int BETWEEN_PROBES = 20;

    void set_first_price() {
        const Totals &totals = state_.totals;
        const bool known = totals.prize > 0.0 && totals.length > 0.0;
        state_.price = known ? totals.length / totals.prize : 1.0;
        least_price_ = 1e-6 * state_.price;
    }

    void conclude() {
        measure();
        remember();
    }

    void remember() {
        best_ = state_.tour.order();
        best_totals_ = state_.totals;
    }

    // Back to the bound. The price is right if descents end beyond it as often as within.
    template <class Late>
    void balance(Late late) {
        const bool too_dear = state_.feasible() == (task_.goal == Goal::least_cost);
        const double first = task_.goal == Goal::least_cost ? FIRST_RATE : RATE;
        const double rate = falling_rate(first, RATE);
        state_.price *= too_dear ? 1.0 - rate : 1.0 + rate;
        state_.price = std::max(state_.price, least_price_);
        to_bound(late);
    }

    double falling_rate(double first, double last) {
        return std::max(last, first / (1.0 + 0.25 * double(balances_++)));
    }

    // Keeps or undoes by the price alone. Prize may be missing: it is paid for, and if much of
    // it is missing the price rises.
    void settle(double heat) {
        const auto priced = [&](const Totals &totals) {
            return value(totals) + state_.price * totals.prize;
        };
        const double loss = priced(state_.kept()) - priced(state_.totals);
        if (loss <= task_.least_gain || is_tolerable(loss, heat)) {
            state_.keep();
            remember_if_best();
        } else {
            state_.undo();
        }
        const double mean_prize = task_.bound / std::max(1, state_.tour.size());
        if (mean_prize <= 0.0) return;
        const double missing = (task_.bound - state_.totals.prize) / mean_prize;
        const double rate = falling_rate(FIRST_RATE, SLOW_RATE);
        state_.price *= 1.0 + rate * std::clamp(missing / MUCH, -1.0, 1.0);
        state_.price = std::max(state_.price, least_price_);
    }

    // Looks at what the tour would be within the bound, and goes on from where it is.
    template <class Late>
    void probe(Late late) {
        to_bound(late);
        remember_if_best();
        state_.undo();
    }

    template <class Late>
    void to_bound(Late late) {
        state_.choice = State::Choice::fixed;
        balance_.restore();
        state_.descend(late);
        balance_.use_slack(Balance::SAMPLE, late);
        state_.descend(late);
    }

    void remember_if_best() {
        if (!state_.feasible()) return;
        const bool first = !task_.feasible(best_totals_);
        if (first || task_.gain(best_totals_, state_.totals) > task_.least_gain) remember();
    }

    void decide(double heat) {
        const double gain = task_.gain(state_.kept(), state_.totals);
        if (!state_.feasible() || (gain < -task_.least_gain && !tolerates(heat))) {
            state_.undo();
            return;
        }
        state_.keep();
        remember_if_best();
    }

    bool tolerates(double heat) {
        return is_tolerable(value(state_.kept()) - value(state_.totals), heat);
    }

    bool is_tolerable(double loss, double heat) {
        return heat > 0.0 && loss <= -heat * std::log(random_.fraction());
    }

    // Everything in units of length.
    double value(const Totals &totals) const {
        const double gained =
            task_.goal == Goal::most_prize ? state_.price * totals.prize : totals.penalty;
        return gained - totals.length;
    }

    // Puts three adjacent short parts of the tour in reverse order (double bridge).
    void bridge() {
        Tour &tour = state_.tour;
        const int size = tour.size(), longest = std::min(PART, (size - 1) / 3);
        if (longest < 1) return;
        int at = random_.below(size);
        kick_.edges = 4;
        for (int i = 0; i < 4; ++i) {
            kick_.ends[2 * i] = tour.at(at);
            kick_.ends[2 * i + 1] = tour.next(tour.at(at));
            at = (at + 1 + random_.below(longest)) % size;
        }
        kick_.join(0, 5);
        kick_.join(6, 3);
        kick_.join(4, 1);
        kick_.join(2, 7);
        kick_.keeps_one_tour(tour);
        state_.exchange(kick_);
    }

    // Drops and inserts some nodes around a random one.
    void toggle() {
        const auto turn = [&](int node) {
            if (node == 0 || random_.below(2) == 0) return;
            if (state_.tour.contains(node))
                state_.drop(node);
            else
                state_.insert(node, state_.best_place_anywhere(node));
        };
        const int centre = random_.below(state_.tour.nodes());
        turn(centre);
        for (const Neighbours::One &near : task_.neighbours.of(centre)) turn(near.node);
    }

    // Drops a stretch of the tour, and visits nodes around a random one instead.
    void move_on() {
        Tour &tour = state_.tour;
        const int centre = random_.below(tour.nodes());
        const int dropped = random_.below(1 + std::min(LONGEST_STRETCH, tour.size() / 2));
        int node = tour.at(random_.below(tour.size()));
        for (int i = 0; i < dropped; ++i) {
            const int next = tour.next(node);
            if (node != 0) state_.drop(node);
            node = next;
        }
        const auto visit = [&](int wanted) {
            if (!tour.contains(wanted)) state_.insert(wanted, state_.best_place_anywhere(wanted));
        };
        visit(centre);
        for (const Neighbours::One &near : task_.neighbours.of(centre)) visit(near.node);
    }

    const TourTask &task_;
    Random random_;
    State state_;
    Balance balance_;
    Exchange kick_;
    double least_price_ = 0.0;
    int64_t balances_ = 0, settled_ = 0;
    std::vector<int> best_;
    Totals best_totals_;
};

}  // namespace metasage::improve
