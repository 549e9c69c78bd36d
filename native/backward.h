// Gradients of a weighted sum of log-likelihoods by all inputs of the decoder.

#pragma once

#include <memory>

#include "adapter.h"
#include "replay.h"

namespace metasage::METASAGE_LEVEL {

// Gradients by node data in the layout of Nodes, and by what all nodes share.
template <int D>
struct GradientSums {
    explicit GradientSums(int64_t nodes, int64_t padded)
        : keys(padded * D), values(padded * D), pointers(padded * D),
          pointer_bias(padded * TILE), query_last(nodes * D), query_first(nodes * D),
          shared(SHARED) {
        clear();
    }

    // [scalar query | start query | adapter (w1, b1, w2, b2) | combining weight | its bias]
    static constexpr int SCALAR = 0, START = D, ETA = 2 * D, COMBINE = ETA + 2 * D * D + 2 * D,
                         COMBINE_BIAS = COMBINE + D * D, SHARED = COMBINE_BIAS + D;

    // The pointer biases' gradients keep their lanes apart until the end.
    Buffer<float> keys, values, pointers, pointer_bias, query_last, query_first, shared;

    template <class Do>
    void each(GradientSums &other, Do what) {
        what(keys, other.keys);
        what(values, other.values);
        what(pointers, other.pointers);
        what(pointer_bias, other.pointer_bias);
        what(query_last, other.query_last);
        what(query_first, other.query_first);
        what(shared, other.shared);
    }

    void clear() {
        each(*this, [](Buffer<float> &mine, Buffer<float> &) { mine.clear(); });
    }

    void add(GradientSums &other) {
        each(other, [](Buffer<float> &mine, Buffer<float> &theirs) {
            for (int64_t i = 0; i < mine.size(); ++i) mine[i] += theirs[i];
        });
    }
};

template <int D>
class BackwardPass {
public:
    static constexpr int HEAD = D / HEADS;
    using Sums = GradientSums<D>;

    explicit BackwardPass(const Decoder &decoder)
        : decoder_(decoder), replay_(decoder, true), rows_(decoder.most_steps()),
          ordered_(decoder.nodes, padded(decoder)), scores_(padded(decoder) * TILE) {
        if (decoder.adapts_after()) {
            glimpses_.resize((decoder.most_steps() + TILE) * D);
            combined_gradients_.resize((decoder.most_steps() + TILE) * D);
        }
    }

    static int64_t padded(const Decoder &decoder) {
        return (decoder.nodes + GROUP - 1) / GROUP * GROUP;
    }

    // Adds the gradient of weight * log p of one rollout.
    bool add(const Nodes<D> &nodes, int64_t instance, const int32_t *actions, int64_t count,
             float weight, bool first_scored, Sums &sums, Fault &fault) {
        const Rules rules(decoder_, instance);
        int64_t rows = 0;
        const bool fine =
            replay_.run(nodes, rules, instance, actions, count, first_scored, fault,
                        [&] { add_tile(weight, rows, sums); });
        if (!fine) return false;
        if (decoder_.adapter.given()) rows_.add_to(sums.shared + Sums::ETA, 0.0f, nullptr, 0, rows);
        if (decoder_.adapts_after()) {
            add_products<D>(combined_gradients_, glimpses_, rows, sums.shared + Sums::COMBINE, 0.0f,
                            nullptr);
            add_rows<D>(combined_gradients_, rows, sums.shared + Sums::COMBINE_BIAS, 0.0f, nullptr);
        }
        scatter(sums);
        return true;
    }

private:
    void add_tile(float weight, int64_t &rows, Sums &sums) {
        Step<D> &step = replay_.step;
        alignas(64) float weights[TILE];
        int64_t row[TILE];
        for (int lane = 0; lane < TILE; ++lane) {
            weights[lane] = lane < replay_.lanes ? weight : 0.0f;
            row[lane] = lane < replay_.lanes ? rows + lane : -1;
        }
        const float *scores = step.score_gradient(replay_.chosen, weights);
        to_rows(step.context, tile_rows_[0]);
        add_outer<D, D>(ordered_.pointers, step.groups(), scores, tile_rows_[0], D);
        for (int s = 0; s < step.slots(); ++s) {
            float *sum = ordered_.pointer_bias + step.node_of(s) * TILE;
            for (int lane = 0; lane < TILE; ++lane) sum[lane] += scores[s * TILE + lane];
        }
        std::memset(gradient_, 0, sizeof(gradient_));
        add_sums<D, D>(step.nodes().pointers, step.groups(), scores, gradient_);
        if (decoder_.adapter.given()) {
            rows_.collect(step, gradient_, row);
            dots<D>(step.adapter.w1, step.all_dims(), rows_.back,
                    [&](int k, int, int v, Vector sum) {
                        float *at = gradient_ + k * TILE + v * LANES;
                        store(at, load(at) + sum);
                    });
        }
        if (decoder_.adapts_after()) {
            to_rows(step.glimpse, glimpses_ + rows * D);
            to_rows(gradient_, combined_gradients_ + rows * D);
            alignas(64) float before[D * TILE] = {};
            add_sums<D, D>(decoder_.combine_weight, step.all_dims(), gradient_, before);
            std::memcpy(gradient_, before, sizeof(gradient_));
        }
        rows += replay_.lanes;
        add_glimpse();
        add_queries(sums);
    }

    // From the gradient by the glimpse to keys, values and queries.
    void add_glimpse() {
        Step<D> &step = replay_.step;
        const Nodes<D> &nodes = step.nodes();
        // The weights were not divided by their sums: the gradient is instead.
        for (int k = 0; k < D; ++k)
            for (int v = 0; v < VECTORS; ++v) {
                float *at = gradient_ + k * TILE + v * LANES;
                store(at, load(at) * load(step.inverse + k / HEAD * TILE + v * LANES));
            }
        to_rows(gradient_, tile_rows_[0]);
        std::memset(query_gradient_, 0, sizeof(query_gradient_));
        const float scale = 1.0f / __builtin_sqrtf(float(HEAD));
        for (int h = 0; h < HEADS; ++h) {
            const int lanes = h * HEAD * TILE;
            const float *weight = step.weights(h);
            Vector mean[VECTORS] = {};
            for (int k = 0; k < HEAD; ++k)
                for (int v = 0; v < VECTORS; ++v) {
                    const int at = lanes + k * TILE + v * LANES;
                    mean[v] += load(step.glimpse + at) * load(gradient_ + at);
                }
            dots<HEAD>(nodes.values + nodes.at(h, 0), step.groups(), gradient_ + lanes,
                       [&](int, int slot, int v, Vector sum) {
                           const int at = slot * TILE + v * LANES;
                           store(scores_ + at, load(weight + at) * ((sum - mean[v]) * scale));
                       });
            add_outer<HEAD, HEAD>(ordered_.values + nodes.at(h, 0), step.groups(), weight,
                                  tile_rows_[0] + h * HEAD, D);
            add_outer<HEAD, HEAD>(ordered_.keys + nodes.at(h, 0), step.groups(), scores_,
                                  step.query_rows[0] + h * HEAD, D);
            add_sums<HEAD, HEAD>(nodes.keys + nodes.at(h, 0), step.groups(), scores_,
                                 query_gradient_ + lanes);
        }
    }

    void add_queries(Sums &sums) {
        to_rows(query_gradient_, tile_rows_[0]);
        const auto add = [](float *to, const float *from, float factor) {
            for (int k = 0; k < D; ++k) to[k] += factor * from[k];
        };
        for (int lane = 0; lane < replay_.lanes; ++lane) {
            const State &state = replay_.states[lane];
            if (state.current < 0) {
                add(sums.shared + Sums::START, tile_rows_[lane], 1.0f);
                continue;
            }
            add(sums.query_last + int64_t(state.current) * D, tile_rows_[lane], 1.0f);
            add(sums.query_first + int64_t(state.first) * D, tile_rows_[lane], 1.0f);
            add(sums.shared + Sums::SCALAR, tile_rows_[lane], replay_.scalars[lane]);
        }
    }

    // Brings the gradients by the rollout's ordered nodes to their own places.
    void scatter(Sums &sums) {
        const Nodes<D> &nodes = replay_.ordered;
        const auto move = [](float *to, float *from, int count) {
            for (int k = 0; k < count; ++k) {
                to[k] += from[k];
                from[k] = 0.0f;
            }
        };
        for (int i = 0; i < nodes.count; ++i) {
            const int node = nodes.ids[i];
            for (int h = 0; h < HEADS; ++h) {
                move(sums.keys + nodes.at(h, node), ordered_.keys + nodes.at(h, i), HEAD);
                move(sums.values + nodes.at(h, node), ordered_.values + nodes.at(h, i), HEAD);
            }
            move(sums.pointers + node * D, ordered_.pointers + i * D, D);
            move(sums.pointer_bias + node * TILE, ordered_.pointer_bias + i * TILE, TILE);
        }
    }

    static void to_rows(const float *lanes, float *rows) {
        float *to[TILE];
        for (int lane = 0; lane < TILE; ++lane) to[lane] = rows + lane * D;
        lanes_to_rows<D>(lanes, to);
    }

    const Decoder &decoder_;
    Replay<D> replay_;
    AdapterRows<D> rows_;
    Sums ordered_;
    Buffer<float> scores_, glimpses_, combined_gradients_;
    alignas(64) float gradient_[D * TILE], query_gradient_[D * TILE], tile_rows_[TILE][D];
};

}  // namespace metasage::METASAGE_LEVEL
