// A tile of rollouts that choose among all nodes that the rules allow.

#pragma once

#include "rollout/decoder.h"

namespace metasage::METASAGE_LEVEL {

template <int D>
class DenseSampler {
public:
    explicit DenseSampler(const Decoder &decoder) : step(decoder, false), visited_(decoder.nodes) {}

    Step<D> step;

    void use(const Nodes<D> &nodes, int64_t instance) {
        nodes_ = &nodes;
        step.use(nodes, instance);
        for (int i = 0; i < nodes.count; ++i) visited_[i] = 0;
        std::memset(step.allowed, 0, nodes.padded * sizeof(Bits));
    }

    void begin(const Rules &, int lane) {
        for (int i = 0; i < nodes_->count; ++i) visited_[i] &= ~(Bits(1) << lane);
    }

    void begin_step(const Rules &rules, Bits active) {
        for (int i = 0; i < nodes_->count; ++i) step.allowed[i] = active & ~visited_[i];
        if (rules.has_depot()) step.allowed[0] = 0;
    }

    // Sets a lane's mask, and its query unless a node is given. Returns false if
    // that is not allowed.
    bool set_lane(int lane, const Rules &rules, const State &state, int32_t given) {
        rules.forbid(state, nullptr, nodes_->demand, rules.has_depot(), nodes_->count, lane,
                     step.allowed);
        if (rules.has_depot() && rules.depot_allowed(state)) step.allowed[0] |= Bits(1) << lane;
        if (given >= 0) return allows(lane, given);
        step.set_lane(lane, state, rules.scalar(state));
        return true;
    }

    bool allows(int lane, int32_t node) const { return step.allowed[node] >> lane & 1; }
    void visit(int lane, int32_t node) { visited_[node] |= Bits(1) << lane; }

private:
    const Nodes<D> *nodes_ = nullptr;
    Buffer<Bits> visited_;
};

}  // namespace metasage::METASAGE_LEVEL
