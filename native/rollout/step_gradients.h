// The backward pass through the attention of a tile, to keys, values and queries.

#pragma once

#include <cstring>

#include "rollout/replay.h"

namespace metasage::METASAGE_LEVEL {

// Gradients by node data, and by what all nodes share. Keys and values are in the
// layout of the node data that they belong to.
template <int D>
struct GradientSums {
    explicit GradientSums(const Decoder &decoder)
        : GradientSums(decoder.nodes, (decoder.nodes + GROUP - 1) / GROUP * GROUP) {}

    GradientSums(int64_t nodes, int64_t padded)
        : keys(padded * D),
          values(padded * D),
          pointers(padded * D),
          pointer_bias(padded * TILE),
          query_last(nodes * D),
          query_first(nodes * D),
          shared(SHARED) {
        clear();
    }

    // [scalar query | start query | adapter (w1, b1, w2, b2) | combining weight | its bias |
    //  strengths of the glimpse | of the pointer]
    static constexpr int SCALAR = 0, START = D, ETA = 2 * D, COMBINE = ETA + 2 * D * D + 2 * D,
                         COMBINE_BIAS = COMBINE + D * D, GLIMPSE_LOCALITY = COMBINE_BIAS + D,
                         POINTER_LOCALITY = GLIMPSE_LOCALITY + HEADS * MEASURES,
                         SHARED = POINTER_LOCALITY + MEASURES;

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
class DenseStepGradient {
public:
    static constexpr int HEAD = D / HEADS;
    using Sums = GradientSums<D>;

    explicit DenseStepGradient(const Decoder &decoder)
        : ordered_(decoder), attention_(ordered_.keys.size() / D) {}

    // From the gradient by the pointer products to the pointer keys.
    void add_pointers(Step<D> &step, Sums &) {
        const float *scores = step.score_gradient();
        lanes_to_tile_rows<D>(step.context, tile_rows_[0]);
        add_outer<D, D>(ordered_.pointers, step.groups(), scores, tile_rows_[0], D);
        for (int s = 0; s < step.slots(); ++s) {
            float *sum = ordered_.pointer_bias + step.node_of(s) * TILE;
            for (int lane = 0; lane < TILE; ++lane) sum[lane] += scores[s * TILE + lane];
        }
    }

    // From the gradient by the glimpse to keys, values and queries.
    void add_glimpse(Step<D> &step, float *gradient, Sums &sums, float (&query_rows)[TILE][D]) {
        attention_.add(step.nodes(), step.groups(), step.attention, step.query_rows, step.glimpse,
                       step.distances, gradient, ordered_.keys, ordered_.values,
                       sums.shared + Sums::GLIMPSE_LOCALITY, query_rows);
    }

    // Brings the gradients by the rollout's ordered nodes to their own places.
    void finish(const Replay<D> &replay, Sums &sums) {
        const Nodes<D> &nodes = replay.ordered;
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

    // Gradients by one node's keys and values, in the order of the inputs.
    static void read(const Sums &sums, int64_t node, float *keys, float *values) {
        const int64_t padded = sums.keys.size() / D;
        gather_heads<D>(sums.keys, padded, node, keys);
        gather_heads<D>(sums.values, padded, node, values);
    }

private:
    // By the nodes in the order of the replay.
    Sums ordered_;
    AttentionGradient<D> attention_;
    alignas(64) float tile_rows_[TILE][D];
};

}  // namespace metasage::METASAGE_LEVEL
