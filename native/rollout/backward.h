// Gradients of a weighted sum of log-likelihoods by all inputs of the decoder.

#pragma once

#include <memory>

#include "rollout/adapter.h"
#include "rollout/step_gradients.h"

namespace metasage::METASAGE_LEVEL {

template <int D, class Kind>
class BackwardPass {
public:
    using NodeData = typename Kind::NodeData;
    using Sums = GradientSums<D>;

    explicit BackwardPass(const Decoder &decoder)
        : decoder_(decoder),
          replay_(decoder, true),
          step_gradient_(decoder),
          rows_(decoder.most_steps()) {
        if (decoder.combines()) {
            combine_inputs_.resize((decoder.most_steps() + TILE) * D);
            combined_gradients_.resize((decoder.most_steps() + TILE) * D);
        }
    }

    // Adds the gradient of weight * log p of one rollout, and sets log p. Returns false if
    // the rules forbid it, or if go_on(), asked at every tile, does.
    template <class GoOn>
    bool add(const NodeData &nodes, int64_t instance, const int32_t *actions, int64_t count,
             float weight, bool first_scored, Sums &sums, double &log_likelihood, Fault &fault,
             GoOn go_on) {
        const Rules rules(decoder_, instance);
        int64_t rows = 0;
        const bool fine =
            replay_.run(nodes, rules, instance, actions, count, first_scored, fault, [&] {
                add_tile(weight, rows, sums);
                return go_on();
            });
        if (!fine) return false;
        log_likelihood = replay_.log_likelihood;
        if (decoder_.adapter.given()) rows_.add_to(sums.shared + Sums::ETA, 0.0f, nullptr, 0, rows);
        if (decoder_.combines()) {
            add_products<D>(combined_gradients_, combine_inputs_, rows, sums.shared + Sums::COMBINE,
                            0.0f, nullptr);
            add_rows<D>(combined_gradients_, rows, sums.shared + Sums::COMBINE_BIAS, 0.0f, nullptr);
        }
        step_gradient_.finish(replay_, sums);
        return true;
    }

private:
    void add_tile(float weight, int64_t &rows, Sums &sums) {
        auto &step = replay_.step;
        alignas(64) float weights[TILE];
        int64_t row[TILE];
        for (int lane = 0; lane < TILE; ++lane) {
            weights[lane] = lane < replay_.lanes ? weight : 0.0f;
            row[lane] = lane < replay_.lanes ? rows + lane : -1;
        }
        if (decoder_.pointer_locality)
            step.add_pointer_locality(replay_.chosen, weights,
                                      sums.shared + Sums::POINTER_LOCALITY);
        step.context_gradient(replay_.chosen, weights, gradient_);
        step_gradient_.add_pointers(step, sums);
        if (decoder_.adapts_after()) go_back_through_adapter(row);
        float *skipped = combined_gradients_ + rows * D;
        if (decoder_.combines()) {
            lanes_to_tile_rows<D>(step.combine_input(), combine_inputs_ + rows * D);
            lanes_to_tile_rows<D>(gradient_, skipped);
            alignas(64) float before[D * TILE] = {};
            add_sums<D, D>(decoder_.combine_weight, step.all_dims(), gradient_, before);
            std::memcpy(gradient_, before, sizeof(gradient_));
        }
        if (decoder_.adapts_before()) go_back_through_adapter(row);
        rows += replay_.lanes;
        step_gradient_.add_glimpse(step, gradient_, sums, query_rows_);
        if (decoder_.skip)
            for (int i = 0; i < TILE * D; ++i) query_rows_[0][i] += skipped[i];
        add_queries(sums);
    }

    void go_back_through_adapter(const int64_t (&row)[TILE]) {
        auto &step = replay_.step;
        rows_.collect(step, gradient_, row);
        dots<D>(step.adapter.w1, step.all_dims(), rows_.back, [&](int k, int, int v, Vector sum) {
            float *at = gradient_ + k * TILE + v * LANES;
            store(at, load(at) + sum);
        });
    }

    void add_queries(Sums &sums) {
        const auto add = [](float *to, const float *from, float factor) {
            for (int k = 0; k < D; ++k) to[k] += factor * from[k];
        };
        for (int lane = 0; lane < replay_.lanes; ++lane) {
            const State &state = replay_.states[lane];
            if (state.current < 0) {
                add(sums.shared + Sums::START, query_rows_[lane], 1.0f);
                continue;
            }
            add(sums.query_last + int64_t(state.current) * D, query_rows_[lane], 1.0f);
            add(sums.query_first + int64_t(state.first) * D, query_rows_[lane], 1.0f);
            add(sums.shared + Sums::SCALAR, query_rows_[lane], replay_.scalars[lane]);
        }
    }

    const Decoder &decoder_;
    typename Kind::Replayer replay_;
    typename Kind::StepGradient step_gradient_;
    AdapterRows<D> rows_;
    Buffer<float> combine_inputs_, combined_gradients_;
    alignas(64) float gradient_[D * TILE], query_rows_[TILE][D];
};

}  // namespace metasage::METASAGE_LEVEL
