// The problems' rules: what may come next, what a step does, what it all costs.
// They equal the rules in metasage/problems.

#pragma once

#include <cmath>

#include "rollout/simd.h"

namespace metasage::METASAGE_LEVEL {

constexpr double TOLERANCE = 1e-9;

struct State {
    int32_t current = 0, first = 0, steps = 0;
    int32_t customers_left = 0;
    float load = 0.0f;
    double collected = 0.0, length = 0.0, cost = 0.0;
    bool done = false;
};

class Rules {
public:
    Rules(const Decoder &decoder, int64_t instance)
        : problem_(decoder.problem), nodes_(decoder.nodes), coords_(decoder.coords) {
        const int64_t first = instance * nodes_;
        coords_ += 2 * first;
        if (problem_ == Problem::cvrp) {
            demand_ = decoder.demand + first;
            capacity_ = decoder.capacity[instance];
        }
        if (problem_ == Problem::pctsp) penalty_ = decoder.penalty + first;
        if (problem_ == Problem::pctsp || problem_ == Problem::op) prize_ = decoder.prize + first;
        if (problem_ == Problem::op) {
            lengths_ = decoder.lengths + first * nodes_;
            max_length_ = decoder.max_length[instance];
            scale_ = decoder.scale[instance];
        }
    }

    bool has_depot() const { return problem_ != Problem::tsp; }

    State start() const {
        State state;
        state.customers_left = int32_t(nodes_) - has_depot();
        if (!has_depot()) state.current = state.first = -1;
        if (problem_ == Problem::pctsp)
            for (int64_t node = 1; node < nodes_; ++node) state.cost += penalty_[node];
        return state;
    }

    // The number fed to the query.
    float scalar(const State &state) const {
        switch (problem_) {
            case Problem::cvrp:
                return (capacity_ - state.load) / capacity_;
            case Problem::pctsp:
                return float(state.collected < 1.0 ? 1.0 - state.collected : 0.0);
            case Problem::op:
                return float((max_length_ - state.length) / scale_);
            default:
                return 0.0f;
        }
    }

    bool depot_allowed(const State &state) const {
        switch (problem_) {
            case Problem::cvrp:
                return state.current != 0;
            case Problem::pctsp:
                return state.collected >= 1.0 - TOLERANCE || state.customers_left == 0;
            default:
                return true;
        }
    }

    // Clears a lane's bit of the nodes that it cannot go to, visited or not. Null
    // ids mean that the nodes are in their own order.
    void forbid(const State &state, const int32_t *ids, const float *demand, int from, int to,
                int lane, Bits *allowed) const {
        const Bits bit = Bits(1) << lane;
        if (problem_ == Problem::cvrp) {
            const float load = state.load, most = capacity_;
            for (int i = from; i < to; ++i) allowed[i] &= ~(load + demand[i] > most ? bit : 0);
        }
        if (problem_ == Problem::op) {
            const double *ahead = lengths_ + int64_t(state.current) * nodes_;
            const double length = state.length, most = max_length_ * (1.0 + TOLERANCE);
            const auto check = [&](int i, int node) {
                const double total = length + ahead[node] + lengths_[node];
                allowed[i] &= ~(total > most ? bit : 0);
            };
            if (ids == nullptr)
                for (int i = from; i < to; ++i) check(i, i);
            else
                for (int i = from; i < to; ++i) check(i, ids[i]);
        }
    }

    // The same of a single customer.
    bool in_reach(const State &state, int32_t node) const {
        if (problem_ == Problem::cvrp) return !(state.load + demand_[node] > capacity_);
        if (problem_ != Problem::op) return true;
        const double ahead = lengths_[int64_t(state.current) * nodes_ + node];
        return !(state.length + ahead + lengths_[node] > max_length_ * (1.0 + TOLERANCE));
    }

    void advance(State &state, int32_t node) const {
        if (problem_ == Problem::op) {
            state.length += lengths_[int64_t(state.current) * nodes_ + node];
            if (node != 0) state.cost -= prize_[node];
        } else if (state.current >= 0) {
            state.cost += distance(state.current, node);
        }
        if (problem_ == Problem::pctsp && node != 0) {
            state.collected += prize_[node];
            state.cost -= penalty_[node];
        }
        if (problem_ == Problem::cvrp) state.load = node == 0 ? 0.0f : state.load + demand_[node];
        const bool at_depot = has_depot() && node == 0;
        state.customers_left -= !at_depot;
        if (!has_depot() && state.first < 0) state.first = node;
        state.current = node;
        ++state.steps;
        state.done = problem_ == Problem::tsp || problem_ == Problem::cvrp
                         ? state.customers_left == 0
                         : at_depot;
        if (state.done && problem_ != Problem::op) state.cost += distance(node, state.first);
    }

private:
    double distance(int32_t a, int32_t b) const {
        const double x = double(coords_[2 * a]) - double(coords_[2 * b]);
        const double y = double(coords_[2 * a + 1]) - double(coords_[2 * b + 1]);
        return std::sqrt(x * x + y * y);
    }

    Problem problem_;
    int64_t nodes_;
    const float *coords_;
    const float *demand_ = nullptr;
    float capacity_ = 0.0f;
    const double *prize_ = nullptr, *penalty_ = nullptr, *lengths_ = nullptr;
    double max_length_ = 0.0, scale_ = 1.0;
};

}  // namespace metasage::METASAGE_LEVEL
