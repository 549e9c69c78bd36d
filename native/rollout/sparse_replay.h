// Given rollouts with few candidates, and the backward pass of their attention.

#pragma once

#include "rollout/sparse.h"
#include "rollout/step_gradients.h"

namespace metasage::METASAGE_LEVEL {

// The counterpart of Replay: a tile holds steps of one rollout.
template <int D>
class SparseReplay {
public:
    SparseReplay(const Decoder &decoder, bool) : step(decoder), candidates_(decoder) {}

    SparseStep<D> step;
    // Of the tile at hand.
    int lanes = 0;
    State states[TILE];
    float scalars[TILE];
    int32_t chosen[TILE];

    double log_likelihood = 0.0;
    State end;

    template <class Visit>
    bool run(const SparseNodes<D> &nodes, const Rules &rules, int64_t instance,
             const int32_t *actions, int64_t count, bool first_scored, Fault &fault, Visit visit) {
        log_likelihood = 0.0;
        end = rules.start();
        step.use(nodes, instance);
        candidates_.use(instance, nodes.near);
        candidates_.open_all(open_, rules);
        const auto allowed = [&](int32_t node) {
            if (candidates_.allows(rules, end, open_, node)) return true;
            fault = {Fault::forbidden, instance, 0, end.steps, node};
            return false;
        };
        const auto advance = [&](int32_t node) {
            open_.visit(node);
            rules.advance(end, node);
        };
        if (!first_scored && count > 0) {
            if (!allowed(actions[0])) return false;
            advance(actions[0]);
        }
        while (!end.done && end.steps < count) {
            step.clear();
            for (lanes = 0; lanes < TILE && !end.done && end.steps < count; ++lanes) {
                const int32_t node = actions[end.steps];
                if (!allowed(node)) return false;
                states[lanes] = end;
                scalars[lanes] = rules.scalar(end);
                step.set_lane(lanes, end, scalars[lanes],
                              candidates_.find(rules, end, open_, node));
                chosen[lanes] = step.lanes[lanes].slot_of(node);
                advance(node);
            }
            step.run();
            for (int lane = 0; lane < lanes; ++lane)
                log_likelihood += step.log_probability(lane, chosen[lane]);
            if (!visit()) return false;
        }
        if (!end.done) fault = {Fault::incomplete, instance, 0, end.steps, 0};
        return end.done;
    }

private:
    Candidates candidates_;
    OpenNodes open_;
};

// The counterpart of DenseStepGradient. Keys' and values' gradients have their heads
// innermost.
template <int D>
class SparseStepGradient {
public:
    using Sums = GradientSums<D>;
    using Step = SparseStep<D>;

    explicit SparseStepGradient(const Decoder &) {}

    void add_pointers(const Step &step, Sums &sums) {
        for (int number = 0; number < TILE; ++number) {
            const typename Step::NearNodes &lane = step.lanes[number];
            for (int s = 0; s < lane.count; ++s) {
                const int64_t node = lane.ids[s];
                add_scaled<D>(lane.chances[s], step.context_rows[number], sums.pointers + node * D);
                sums.pointer_bias[node * TILE] += lane.chances[s];
            }
        }
    }

    void add_glimpse(const Step &step, const float *gradient, Sums &sums,
                     float (&query_rows)[TILE][D]) {
        alignas(64) float rows[TILE][D];
        lanes_to_tile_rows<D>(gradient, rows[0]);
        for (int number = 0; number < TILE; ++number)
            if (step.lanes[number].count > 0)
                add_lane(step, number, rows[number], sums, query_rows[number]);
    }

    void finish(const SparseReplay<D> &, Sums &) {}

    static void read(const Sums &sums, int64_t node, float *keys, float *values) {
        heads_outside<D>(sums.keys + node * D, keys);
        heads_outside<D>(sums.values + node * D, values);
    }

private:
    static void add_lane(const Step &step, int number, const float *gradient_row, Sums &sums,
                         float *query_row) {
        const typename Step::NearNodes &lane = step.lanes[number];
        const SparseNodes<D> &nodes = step.nodes();
        alignas(64) float gradient[D], glimpse[D], query[D], back[D] = {}, mean[PAIR], part[PAIR];
        heads_inside<D>(gradient_row, gradient);
        heads_inside<D>(step.glimpse_rows[number], glimpse);
        heads_inside<D>(step.query_rows[number], query);
        // The weights were not divided by their sums: the gradient is instead.
        for (int k = 0; k < D; ++k) gradient[k] *= lane.inverse[k % HEADS];
        head_dots<D>(glimpse, gradient, mean);
        const float scale = 1.0f / __builtin_sqrtf(float(Step::HEAD));
        float *strengths = sums.shared + Sums::GLIMPSE_LOCALITY;
        for (int s = 0; s < lane.count; ++s) {
            const int64_t at = int64_t(lane.ids[s]) * D;
            const float *weight = lane.weights + s * PAIR;
            head_dots<D>(nodes.values + at, gradient, part);
            for (int h = 0; h < PAIR; ++h) part[h] = weight[h] * ((part[h] - mean[h]) * scale);
            if (step.has_glimpse_locality())
                for (int h = 0; h < HEADS; ++h) {
                    strengths[h * MEASURES] -= part[h] / scale * lane.distances[s];
                    strengths[h * MEASURES + 1] -= part[h] / scale * lane.log_distances[s];
                }
            add_by_head<D>(weight, gradient, sums.values + at);
            add_by_head<D>(part, query, sums.keys + at);
            add_by_head<D>(part, nodes.keys + at, back);
        }
        heads_outside<D>(back, query_row);
    }
};

}  // namespace metasage::METASAGE_LEVEL
