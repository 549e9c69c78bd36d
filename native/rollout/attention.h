// Attention of a tile's queries to nodes, forth and back: the decoder's glimpse, and
// the encoder's layers.

#pragma once

#include "rollout/locality.h"

namespace metasage::METASAGE_LEVEL {

// What attention reads of nodes.
template <int D>
struct KeyValues {
    static constexpr int HEAD = D / HEADS;

    int count = 0, padded = 0;
    // Number of the depot, or -1.
    int depot = -1;
    // [head][node][HEAD], so that a head streams through memory.
    Buffer<float> keys, values;
    Buffer<float> x, y;

    int64_t at(int head, int node) const { return (int64_t(head) * padded + node) * HEAD; }

    void resize(int nodes) {
        count = nodes;
        padded = (nodes + GROUP - 1) / GROUP * GROUP;
        for (Buffer<float> *buffer : {&keys, &values}) clear_to(*buffer, padded * D);
        for (Buffer<float> *buffer : {&x, &y}) clear_to(*buffer, padded);
    }

    void set(int node, const float *key, const float *value, const float *place) {
        for (int h = 0; h < HEADS; ++h) {
            std::memcpy(keys + at(h, node), key + h * HEAD, HEAD * sizeof(float));
            std::memcpy(values + at(h, node), value + h * HEAD, HEAD * sizeof(float));
        }
        x[node] = place[0];
        y[node] = place[1];
    }

protected:
    template <class T>
    static void clear_to(Buffer<T> &buffer, int64_t size) {
        buffer.resize(size);
        buffer.clear();
    }
};

// Row of a node whose heads stand apart by `padded` nodes, as in KeyValues.
template <int D>
inline void gather_heads(const float *heads, int64_t padded, int64_t node, float *row) {
    constexpr int HEAD = D / HEADS;
    for (int h = 0; h < HEADS; ++h)
        std::memcpy(row + h * HEAD, heads + (h * padded + node) * HEAD, HEAD * sizeof(float));
}

template <int D>
class TileAttention {
public:
    static constexpr int HEAD = D / HEADS;

    // Whether the weights of all heads are kept, for the backward pass. `strengths` are
    // those of the heads, [head][MEASURES], or null.
    TileAttention(int64_t padded, bool keep_weights, const float *strengths)
        : keep_weights_(keep_weights),
          strengths_(strengths),
          weights_(padded * TILE * (keep_weights ? HEADS : 1)) {}

    // Of each head: one over the sum of the weights.
    alignas(64) float inverse[HEADS * TILE];

    const float *strengths() const { return strengths_; }
    float *weights(int head, Groups groups) {
        return weights_ + (keep_weights_ ? int64_t(head) * groups.count * GROUP * TILE : 0);
    }

    // Weighs the nodes that `allowed` has bits for; `glimpse` comes as lanes.
    void run(const KeyValues<D> &nodes, Groups groups, const Bits *allowed,
             const float (&query_rows)[TILE][D], const Distances &distances, float *glimpse) {
        alignas(64) float query[D * TILE];
        rows_to_lanes<D>(query_rows[0], D, query);
        // Scores to the base of two: exp2 then needs no further factor.
        const float scale = LOG2E / __builtin_sqrtf(float(HEAD));
        for (int i = 0; i < D * TILE; ++i) query[i] *= scale;
        std::memset(glimpse, 0, D * TILE * sizeof(float));
        for (int h = 0; h < HEADS; ++h) {
            float *weight = weights(h, groups);
            Vector top[VECTORS], sum[VECTORS];
            for (int v = 0; v < VECTORS; ++v) {
                top[v] = fill(LOWEST);
                sum[v] = Vector{};
            }
            const auto take = [&](int node, int64_t at, int v, Vector score) {
                score = keep(allowed[node], v, score, FORBIDDEN);
                top[v] = max(top[v], score);
                store(weight + at, score);
            };
            const float *lanes = query + h * HEAD * TILE;
            if (strengths_ == nullptr) {
                dots<HEAD>(nodes.keys + nodes.at(h, 0), groups, lanes,
                           [&](int node, int slot, int v, Vector score) {
                               take(node, slot * TILE + v * LANES, v, score);
                           });
            } else {
                const Strengths strengths(strengths_ + h * MEASURES, LOG2E);
                dots<HEAD>(nodes.keys + nodes.at(h, 0), groups, lanes,
                           [&](int node, int slot, int v, Vector score) {
                               const int64_t at = slot * TILE + v * LANES;
                               score -= strengths.of(distances.plain(at), distances.log(at));
                               take(node, at, v, score);
                           });
            }
            float *out = glimpse + h * HEAD * TILE;
            // In parts, so that the weights are still at hand when they meet the values.
            for (int g = 0; g < groups.count; g += CHUNK) {
                const int count = groups.count - g < CHUNK ? groups.count - g : CHUNK;
                float *part = weight + g * GROUP * TILE;
                for (int s = 0; s < count * GROUP; ++s)
#pragma GCC unroll 8
                    for (int v = 0; v < VECTORS; ++v) {
                        float *at = part + s * TILE + v * LANES;
                        const Vector w = exp2(load(at) - top[v]);
                        sum[v] += w;
                        store(at, w);
                    }
                add_sums<HEAD, HEAD>(nodes.values + nodes.at(h, 0), {groups.ids + g, count}, part,
                                     out);
            }
            for (int v = 0; v < VECTORS; ++v) {
                const Vector share = 1.0f / max(sum[v], fill(TINY));
                store(inverse + h * TILE + v * LANES, share);
                for (int k = 0; k < HEAD; ++k) {
                    float *at = out + k * TILE + v * LANES;
                    store(at, load(at) * share);
                }
            }
        }
    }

private:
    bool keep_weights_;
    const float *strengths_;
    Buffer<float> weights_;
};

// The backward pass of a tile whose attention kept its weights.
template <int D>
class AttentionGradient {
public:
    static constexpr int HEAD = D / HEADS;

    explicit AttentionGradient(int64_t padded) : scores_(padded * TILE) {}

    // Adds the gradients by keys and values, laid out as the nodes', and by the
    // strengths, if there are any. `gradient`, by the glimpse and as lanes, is used up;
    // that by the queries comes as rows.
    void add(const KeyValues<D> &nodes, Groups groups, TileAttention<D> &attention,
             const float (&query_rows)[TILE][D], const float *glimpse, const Distances &distances,
             float *gradient, float *keys, float *values, float *strengths,
             float (&query_gradient_rows)[TILE][D]) {
        // The weights were not divided by their sums: the gradient is instead.
        for (int k = 0; k < D; ++k)
            for (int v = 0; v < VECTORS; ++v) {
                float *at = gradient + k * TILE + v * LANES;
                store(at, load(at) * load(attention.inverse + k / HEAD * TILE + v * LANES));
            }
        lanes_to_tile_rows<D>(gradient, tile_rows_[0]);
        std::memset(query_gradient_, 0, sizeof(query_gradient_));
        const float scale = 1.0f / __builtin_sqrtf(float(HEAD));
        for (int h = 0; h < HEADS; ++h) {
            const int lanes = h * HEAD * TILE;
            const float *weight = attention.weights(h, groups);
            Vector mean[VECTORS] = {};
            for (int k = 0; k < HEAD; ++k)
                for (int v = 0; v < VECTORS; ++v) {
                    const int at = lanes + k * TILE + v * LANES;
                    mean[v] += load(glimpse + at) * load(gradient + at);
                }
            dots<HEAD>(nodes.values + nodes.at(h, 0), groups, gradient + lanes,
                       [&](int, int slot, int v, Vector sum) {
                           const int at = slot * TILE + v * LANES;
                           store(scores_ + at, load(weight + at) * ((sum - mean[v]) * scale));
                       });
            if (attention.strengths() != nullptr) {
                StrengthSums sums;
                for (int64_t at = 0; at < int64_t(groups.count) * GROUP * TILE; at += LANES)
                    sums.add(load(scores_ + at), distances.plain(at), distances.log(at));
                sums.add_to(strengths + h * MEASURES, -1.0f / scale);
            }
            add_outer<HEAD, HEAD>(values + nodes.at(h, 0), groups, weight, tile_rows_[0] + h * HEAD,
                                  D);
            add_outer<HEAD, HEAD>(keys + nodes.at(h, 0), groups, scores_, query_rows[0] + h * HEAD,
                                  D);
            add_sums<HEAD, HEAD>(nodes.keys + nodes.at(h, 0), groups, scores_,
                                 query_gradient_ + lanes);
        }
        lanes_to_tile_rows<D>(query_gradient_, query_gradient_rows[0]);
    }

private:
    Buffer<float> scores_;
    alignas(64) float query_gradient_[D * TILE], tile_rows_[TILE][D];
};

}  // namespace metasage::METASAGE_LEVEL
