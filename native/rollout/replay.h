// Given rollouts: as all actions are known, a tile holds steps of one rollout.

#pragma once

#include "rollout/decoder.h"

namespace metasage::METASAGE_LEVEL {

template <int D>
class Replay {
public:
    Replay(const Decoder &decoder, bool keep_weights)
        : step(decoder, keep_weights),
          decoder_(decoder),
          order_(decoder.nodes),
          position_(decoder.nodes) {}

    Step<D> step;
    // The nodes in the order of their visits: those still allowed are the last.
    Nodes<D> ordered;
    // Of the tile at hand.
    int lanes = 0;
    State states[TILE];
    float scalars[TILE];
    int32_t chosen[TILE];

    double log_likelihood = 0.0;
    State end;

    // Evaluates at most `count` actions, and calls visit() after each tile, which
    // returns whether to go on. Returns false if not, and tells the step if the
    // rules forbid an action.
    template <class Visit>
    bool run(const Nodes<D> &nodes, const Rules &rules, int64_t instance, const int32_t *actions,
             int64_t count, bool first_scored, Fault &fault, Visit visit) {
        log_likelihood = 0.0;
        end = rules.start();
        const int customers = int(decoder_.nodes) - rules.has_depot();
        if (!arrange(rules, instance, actions, count, fault)) return false;
        ordered.reorder(nodes, order_);
        step.use(ordered, instance);
        int visited = 0;
        const auto advance = [&](int32_t node) {
            visited += !(rules.has_depot() && node == 0);
            rules.advance(end, node);
        };
        if (!first_scored && count > 0) advance(actions[0]);
        while (!end.done && end.steps < count) {
            std::memset(step.allowed, 0, ordered.padded * sizeof(Bits));
            for (lanes = 0; lanes < TILE && !end.done && end.steps < count; ++lanes) {
                const Bits bit = Bits(1) << lanes;
                for (int i = visited; i < customers; ++i) step.allowed[i] |= bit;
                rules.forbid(end, ordered.ids, ordered.demand, visited, customers, lanes,
                             step.allowed);
                if (rules.has_depot() && rules.depot_allowed(end)) step.allowed[customers] |= bit;
                const int32_t node = actions[end.steps];
                chosen[lanes] = position_[node];
                if (!(step.allowed[chosen[lanes]] & bit)) {
                    fault = {Fault::forbidden, instance, 0, end.steps, node};
                    return false;
                }
                states[lanes] = end;
                scalars[lanes] = rules.scalar(end);
                step.set_lane(lanes, end, scalars[lanes]);
                advance(node);
            }
            step.run();
            for (int lane = 0; lane < lanes; ++lane) {
                chosen[lane] = step.slot_of(chosen[lane]);
                log_likelihood += step.log_probability(lane, chosen[lane]);
            }
            if (!visit()) return false;
        }
        if (!end.done) fault = {Fault::incomplete, instance, 0, end.steps, 0};
        return end.done;
    }

private:
    bool arrange(const Rules &rules, int64_t instance, const int32_t *actions, int64_t count,
                 Fault &fault) {
        const int32_t nodes = int32_t(decoder_.nodes);
        for (int32_t node = 0; node < nodes; ++node) position_[node] = -1;
        int32_t place = 0;
        if (rules.has_depot()) position_[0] = nodes - 1;
        for (int64_t t = 0; t < count; ++t) {
            const int32_t node = actions[t];
            const bool known = node >= 0 && node < nodes;
            if (rules.has_depot() && node == 0) continue;
            if (!known || position_[node] >= 0) {
                fault = {Fault::forbidden, instance, 0, t, node};
                return false;
            }
            position_[node] = place++;
        }
        for (int32_t node = 0; node < nodes; ++node) {
            if (position_[node] < 0) position_[node] = place++;
            order_[position_[node]] = node;
        }
        return true;
    }

    const Decoder &decoder_;
    Buffer<int32_t> order_, position_;
};

}  // namespace metasage::METASAGE_LEVEL
