// Node rows of which each rollout gathers its own, and the products with them.
//
// Keys and values have their heads innermost ([HEAD][HEADS]), so that products of
// all heads are made side by side and no sum runs across a vector but one.

#pragma once

#include "rollout/near_lists.h"
#include "rollout/nodes.h"

namespace metasage::METASAGE_LEVEL {

// Numbers of all heads stand twice in a row, as many as the widest vector holds.
constexpr int PAIR = 2 * HEADS;

template <int D>
inline void heads_inside(const float *row, float *turned) {
    for (int h = 0; h < HEADS; ++h)
        for (int k = 0; k < D / HEADS; ++k) turned[k * HEADS + h] = row[h * (D / HEADS) + k];
}

template <int D>
inline void heads_outside(const float *turned, float *row) {
    for (int h = 0; h < HEADS; ++h)
        for (int k = 0; k < D / HEADS; ++k) row[h * (D / HEADS) + k] = turned[k * HEADS + h];
}

// Products of two rows head by head, twice.
template <int D>
inline void head_dots(const float *a, const float *b, float *out) {
    Vector sum[PAIR / LANES] = {};
#pragma GCC unroll 8
    for (int k = 0; k < D; k += PAIR)
#pragma GCC unroll 4
        for (int p = 0; p < PAIR / LANES; ++p)
            sum[p] += load(a + k + p * LANES) * load(b + k + p * LANES);
    alignas(64) float part[PAIR];
    for (int p = 0; p < PAIR / LANES; ++p) store(part + p * LANES, sum[p]);
    for (int h = 0; h < HEADS; ++h) out[h] = out[h + HEADS] = part[h] + part[h + HEADS];
}

// to += coefficient of each head times a row.
template <int D>
inline void add_by_head(const float *coefficients, const float *row, float *to) {
#pragma GCC unroll 8
    for (int k = 0; k < D; k += LANES)
        store(to + k, load(to + k) + load(coefficients + k % PAIR) * load(row + k));
}

template <int D>
inline void add_scaled(float factor, const float *row, float *to) {
#pragma GCC unroll 8
    for (int k = 0; k < D; k += LANES) store(to + k, load(to + k) + factor * load(row + k));
}

// out = sum over slots of the heads' coefficients times the rows of the slots' nodes.
template <int D>
inline void sum_by_head(const float *rows, const int32_t *ids, int count, const float *coefficients,
                        float *out) {
    // As many vectors at once as there are registers for.
    constexpr int WIDE = D / LANES < 8 ? D / LANES : 8;
    for (int k = 0; k < D; k += WIDE * LANES) {
        Vector sum[WIDE] = {};
        for (int s = 0; s < count; ++s) {
            const float *row = rows + int64_t(ids[s]) * D + k;
#pragma GCC unroll 8
            for (int i = 0; i < WIDE; ++i)
                sum[i] += load(coefficients + s * PAIR + i * LANES % PAIR) * load(row + i * LANES);
        }
#pragma GCC unroll 8
        for (int i = 0; i < WIDE; ++i) store(out + k + i * LANES, sum[i]);
    }
}

// Products of a vector with the rows of LANES nodes.
template <int D>
inline Vector dots_of_nodes(const float *rows, const int32_t *ids, const float *x) {
    Vector sum[LANES];
#pragma GCC unroll 16
    for (int i = 0; i < LANES; ++i) {
        const float *row = rows + int64_t(ids[i]) * D;
        sum[i] = Vector{};
#pragma GCC unroll 8
        for (int k = 0; k < D; k += LANES) sum[i] += load(row + k) * load(x + k);
    }
    transpose(sum);
    Vector total = sum[0];
    for (int i = 1; i < LANES; ++i) total += sum[i];
    return total;
}

template <int D>
struct SparseNodes {
    int count = 0;
    // [node][D], keys and values with their heads innermost.
    Buffer<float> keys, values, pointers, pointer_bias;
    NearLists near;

    void pack(const Decoder &decoder, int64_t instance) {
        count = int(decoder.nodes);
        for (Buffer<float> *buffer : {&keys, &values, &pointers}) buffer->resize(decoder.nodes * D);
        pointer_bias.resize(count);
        pointer_bias.clear();
        const int64_t first = instance * decoder.nodes;
        for (int64_t node = 0; node < count; ++node) {
            heads_inside<D>(decoder.keys + (first + node) * D, keys + node * D);
            heads_inside<D>(decoder.values + (first + node) * D, values + node * D);
        }
        fold_pointers<D>(decoder, instance, pointers, pointer_bias);
        // Of the near nodes a few in ten are still open when a rollout comes by.
        near.build(decoder.coords + 2 * first, int32_t(count), decoder.problem != Problem::tsp,
                   4 * decoder.neighbours);
    }

    static int64_t bytes(const Decoder &decoder) { return decoder.nodes * D * 3 * sizeof(float); }
};

}  // namespace metasage::METASAGE_LEVEL
