// The three matrix products everything is made of, for one tile of rollouts.
//
// Numbers of the tile are stored with its lanes innermost ("lanes": [k][TILE]);
// node data are node-major and read by broadcast, so that each load of a key
// serves the whole tile and no sum ever runs across lanes. A lane's result
// therefore does not depend on what the other lanes hold.

#pragma once

#include "rollout/simd.h"

namespace metasage::METASAGE_LEVEL {

// Nodes are skipped, padded and numbered in groups of this many.
constexpr int GROUP = 8;
// Groups whose accumulators fill the registers.
constexpr int BLOCK = LANES == 16 ? 3 : 1;
// Groups whose coefficients stay in the first-level cache.
constexpr int CHUNK = 16;

// Some groups of nodes, in ascending order. Scores and coefficients of the nodes
// stand in consecutive "slots", GROUP for each group.
struct Groups {
    const int32_t *ids;
    int count;
};

template <int N>
struct Size {
    static constexpr int value = N;
};

namespace detail {

template <int DEPTH, int N, class Sink>
inline void dots_of_block(const float *rows, const int32_t *ids, const float *lanes, int slot,
                          Sink &sink) {
    constexpr int PART = GROUP / VECTORS;
    for (int from = 0; from < GROUP; from += PART) {
        const float *base[N];
        Vector sum[N][PART][VECTORS];
#pragma GCC unroll 4
        for (int g = 0; g < N; ++g) {
            base[g] = rows + (int64_t(ids[g]) * GROUP + from) * DEPTH;
#pragma GCC unroll 8
            for (int i = 0; i < PART; ++i)
#pragma GCC unroll 4
                for (int v = 0; v < VECTORS; ++v) sum[g][i][v] = Vector{};
        }
#pragma GCC unroll 8
        for (int k = 0; k < DEPTH; ++k) {
            Vector x[VECTORS];
#pragma GCC unroll 4
            for (int v = 0; v < VECTORS; ++v) x[v] = load(lanes + k * TILE + v * LANES);
#pragma GCC unroll 4
            for (int g = 0; g < N; ++g)
#pragma GCC unroll 8
                for (int i = 0; i < PART; ++i)
#pragma GCC unroll 4
                    for (int v = 0; v < VECTORS; ++v) sum[g][i][v] += base[g][i * DEPTH + k] * x[v];
        }
#pragma GCC unroll 4
        for (int g = 0; g < N; ++g)
#pragma GCC unroll 8
            for (int i = 0; i < PART; ++i)
#pragma GCC unroll 4
                for (int v = 0; v < VECTORS; ++v)
                    sink(ids[g] * GROUP + from + i, slot + g * GROUP + from + i, v, sum[g][i][v]);
    }
}

template <int STRIDE, int DIMS>
inline void sums_of_chunk(const float *rows, Groups groups, const float *coefficients, float *out) {
    Vector sum[DIMS][VECTORS];
#pragma GCC unroll 16
    for (int k = 0; k < DIMS; ++k)
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; ++v) sum[k][v] = load(out + k * TILE + v * LANES);
    for (int g = 0; g < groups.count; ++g) {
        const float *row = rows + int64_t(groups.ids[g]) * GROUP * STRIDE;
        const float *coefficient = coefficients + g * GROUP * TILE;
#pragma GCC unroll 2
        for (int i = 0; i < GROUP; ++i) {
            Vector c[VECTORS];
#pragma GCC unroll 4
            for (int v = 0; v < VECTORS; ++v) c[v] = load(coefficient + i * TILE + v * LANES);
#pragma GCC unroll 16
            for (int k = 0; k < DIMS; ++k)
#pragma GCC unroll 4
                for (int v = 0; v < VECTORS; ++v) sum[k][v] += row[i * STRIDE + k] * c[v];
        }
    }
#pragma GCC unroll 16
    for (int k = 0; k < DIMS; ++k)
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; ++v) store(out + k * TILE + v * LANES, sum[k][v]);
}

// HIGH nodes times WIDE vectors at once.
template <int STRIDE, int HIGH, int WIDE, class V>
inline void outer_of_nodes(float *rows, const float *coefficients, const float *tile_rows,
                           int tile_stride) {
    constexpr int STEP = sizeof(V) / sizeof(float);
    V sum[HIGH][WIDE];
#pragma GCC unroll 8
    for (int i = 0; i < HIGH; ++i)
#pragma GCC unroll 4
        for (int w = 0; w < WIDE; ++w) sum[i][w] = load<V>(rows + i * STRIDE + w * STEP);
#pragma GCC unroll 4
    for (int lane = 0; lane < TILE; ++lane) {
        V x[WIDE];
#pragma GCC unroll 4
        for (int w = 0; w < WIDE; ++w) x[w] = load<V>(tile_rows + lane * tile_stride + w * STEP);
#pragma GCC unroll 8
        for (int i = 0; i < HIGH; ++i)
#pragma GCC unroll 4
            for (int w = 0; w < WIDE; ++w) sum[i][w] += coefficients[i * TILE + lane] * x[w];
    }
#pragma GCC unroll 8
    for (int i = 0; i < HIGH; ++i)
#pragma GCC unroll 4
        for (int w = 0; w < WIDE; ++w) store(rows + i * STRIDE + w * STEP, sum[i][w]);
}

}  // namespace detail

// For each node of the groups: sink(node, slot, v, row[node] . lanes).
template <int DEPTH, class Sink>
inline void dots(const float *rows, Groups groups, const float *lanes, Sink sink) {
    int g = 0;
    for (; g + BLOCK <= groups.count; g += BLOCK)
        detail::dots_of_block<DEPTH, BLOCK>(rows, groups.ids + g, lanes, g * GROUP, sink);
    if constexpr (BLOCK == 3) {
        if (groups.count - g == 2)
            detail::dots_of_block<DEPTH, 2>(rows, groups.ids + g, lanes, g * GROUP, sink);
        if (groups.count - g == 1)
            detail::dots_of_block<DEPTH, 1>(rows, groups.ids + g, lanes, g * GROUP, sink);
    }
}

// lanes out[k] += sum over nodes of coefficient[slot] * row[node][k], k < DIMS.
template <int STRIDE, int DIMS>
inline void add_sums(const float *rows, Groups groups, const float *coefficients, float *out) {
    // As many dimensions at once as there are registers for.
    constexpr int MOST = LANES == 16 ? 12 : 8 / VECTORS;
    constexpr int REST = LANES == 16 ? 8 : MOST;
    for (int g = 0; g < groups.count; g += CHUNK) {
        const Groups chunk{groups.ids + g, groups.count - g < CHUNK ? groups.count - g : CHUNK};
        const float *part = coefficients + g * GROUP * TILE;
        int k = 0;
        for (; (DIMS - k) % REST != 0 || DIMS - k >= 2 * MOST; k += MOST)
            detail::sums_of_chunk<STRIDE, MOST>(rows + k, chunk, part, out + k * TILE);
        for (; k < DIMS; k += REST)
            detail::sums_of_chunk<STRIDE, REST>(rows + k, chunk, part, out + k * TILE);
    }
}

// row[node][k] += sum over lanes of coefficient[slot][lane] * tile_rows[lane][k], k < DIMS.
template <int STRIDE, int DIMS>
inline void add_outer(float *rows, Groups groups, const float *coefficients, const float *tile_rows,
                      int tile_stride) {
    constexpr int STEP = DIMS < LANES ? DIMS : LANES;
    constexpr int WIDE = LANES == 16 && DIMS >= 4 * LANES ? 4 : 1;
    constexpr int HIGH = GROUP / (WIDE == 4 ? 2 : 1);
    using V = typename VectorOf<STEP>::Float;
    for (int g = 0; g < groups.count; ++g)
        for (int i = 0; i < GROUP; i += HIGH)
            for (int k = 0; k < DIMS; k += WIDE * STEP)
                detail::outer_of_nodes<STRIDE, HIGH, WIDE, V>(
                    rows + (int64_t(groups.ids[g]) * GROUP + i) * STRIDE + k,
                    coefficients + (g * GROUP + i) * TILE, tile_rows + k, tile_stride);
}

// out[row][l] = sum over k of a[row][k] * b[k][l]
template <int D>
inline void multiply(const float *a, const float *b, int64_t rows, float *out) {
    constexpr int HIGH = 4, WIDE = LANES == 16 ? 4 : 2;
    const auto block = [&](int64_t row, auto high) {
        for (int l = 0; l < D; l += WIDE * LANES) {
            Vector sum[high.value][WIDE] = {};
            for (int k = 0; k < D; ++k)
#pragma GCC unroll 4
                for (int i = 0; i < high.value; ++i)
#pragma GCC unroll 4
                    for (int j = 0; j < WIDE; ++j)
                        sum[i][j] += a[(row + i) * D + k] * load(b + k * D + l + j * LANES);
#pragma GCC unroll 4
            for (int i = 0; i < high.value; ++i)
#pragma GCC unroll 4
                for (int j = 0; j < WIDE; ++j)
                    store(out + (row + i) * D + l + j * LANES, sum[i][j]);
        }
    };
    int64_t row = 0;
    for (; row + HIGH <= rows; row += HIGH) block(row, Size<HIGH>{});
    for (; row < rows; ++row) block(row, Size<1>{});
}

// Turns TILE rows of DIMS numbers into lanes.
template <int DIMS>
inline void rows_to_lanes(const float *rows, int stride, float *lanes) {
    for (int k = 0; k < DIMS; k += LANES)
        for (int v = 0; v < VECTORS; ++v) {
            Vector square[LANES];
#pragma GCC unroll 16
            for (int i = 0; i < LANES; ++i) square[i] = load(rows + (v * LANES + i) * stride + k);
            transpose(square);
#pragma GCC unroll 16
            for (int i = 0; i < LANES; ++i) store(lanes + (k + i) * TILE + v * LANES, square[i]);
        }
}

// Turns lanes into rows, each to its own place.
template <int DIMS>
inline void lanes_to_rows(const float *lanes, float *const (&rows)[TILE]) {
    for (int v = 0; v < VECTORS; ++v)
        for (int k = 0; k < DIMS; k += LANES) {
            Vector square[LANES];
#pragma GCC unroll 16
            for (int i = 0; i < LANES; ++i) square[i] = load(lanes + (k + i) * TILE + v * LANES);
            transpose(square);
#pragma GCC unroll 16
            for (int i = 0; i < LANES; ++i) store(rows[v * LANES + i] + k, square[i]);
        }
}

// The same, to TILE rows one after the other.
template <int DIMS>
inline void lanes_to_tile_rows(const float *lanes, float *rows) {
    float *to[TILE];
    for (int lane = 0; lane < TILE; ++lane) to[lane] = rows + lane * DIMS;
    lanes_to_rows<DIMS>(lanes, to);
}

}  // namespace metasage::METASAGE_LEVEL
