// The backward pass through the adapter, and the gradient of its weights.
//
// A gradient of log p by the adapter's output arises at each step, but its
// factor (the rollout's cost) is known only at the end. So the two ends of both
// layers are kept row by row until then, and one product a rollout follows.

#pragma once

#include "rollout/query.h"

namespace metasage::METASAGE_LEVEL {

// sum[k][l] += sum over rows of a[row][k] * b[row][l], and `weighted`, if given,
// += weight times the same.
template <int D>
inline void add_products(const float *a, const float *b, int64_t rows, float *sum, float weight,
                         float *weighted) {
    constexpr int HIGH = 4, WIDE = LANES == 16 ? 4 : 2;
    constexpr int64_t CACHED = 64;
    for (int64_t from = 0; from < rows; from += CACHED) {
        const int64_t to = from + CACHED < rows ? from + CACHED : rows;
        for (int l = 0; l < D; l += WIDE * LANES)
            for (int k = 0; k < D; k += HIGH) {
                Vector part[HIGH][WIDE] = {};
                for (int64_t row = from; row < to; ++row)
#pragma GCC unroll 4
                    for (int i = 0; i < HIGH; ++i)
#pragma GCC unroll 4
                        for (int j = 0; j < WIDE; ++j)
                            part[i][j] += a[row * D + k + i] * load(b + row * D + l + j * LANES);
#pragma GCC unroll 4
                for (int i = 0; i < HIGH; ++i)
#pragma GCC unroll 4
                    for (int j = 0; j < WIDE; ++j) {
                        const int at = (k + i) * D + l + j * LANES;
                        store(sum + at, load(sum + at) + part[i][j]);
                        if (weighted != nullptr)
                            store(weighted + at, load(weighted + at) + weight * part[i][j]);
                    }
            }
    }
}

// sum[l] += sum over rows of b[row][l], and `weighted` as above.
template <int D>
inline void add_rows(const float *b, int64_t rows, float *sum, float weight, float *weighted) {
    alignas(64) float part[D] = {};
    for (int64_t row = 0; row < rows; ++row)
        for (int l = 0; l < D; ++l) part[l] += b[row * D + l];
    for (int l = 0; l < D; ++l) sum[l] += part[l];
    if (weighted != nullptr)
        for (int l = 0; l < D; ++l) weighted[l] += weight * part[l];
}

template <int D>
class AdapterRows {
public:
    explicit AdapterRows(int64_t rows) : spare_(rows) {
        for (Buffer<float> *buffer : {&input_, &hidden_, &hidden_gradient_, &gradient_})
            buffer->resize((rows + 1) * D);
    }

    // Takes in one step: `gradient` (lanes) is by the adapter's output; row[lane]
    // is where the lane's rows go, negative for lanes without any.
    void collect(const QueryTile<D> &step, const float *gradient, const int64_t (&row)[TILE]) {
        dots<D>(step.adapter.w2, step.all_dims(), gradient, [&](int k, int, int v, Vector sum) {
            const int at = k * TILE + v * LANES;
            store(back + at, load(step.hidden + at) > 0.0f ? sum : Vector{});
        });
        put(step.adapter_input(), input_, row);
        put(step.hidden, hidden_, row);
        put(back, hidden_gradient_, row);
        put(gradient, gradient_, row);
    }

    // Adds the gradient of the weights over some rows to `sum`, of the layout
    // (w1, b1, w2, b2), and `weight` times it to `weighted`, if given.
    void add_to(float *sum, float weight, float *weighted, int64_t from, int64_t rows) const {
        const auto part = [&](int at) { return weighted != nullptr ? weighted + at : nullptr; };
        const float *inner = hidden_gradient_ + from * D, *outer = gradient_ + from * D;
        constexpr int B1 = D * D, W2 = B1 + D, B2 = W2 + D * D;
        add_products<D>(input_ + from * D, inner, rows, sum, weight, part(0));
        add_rows<D>(inner, rows, sum + B1, weight, part(B1));
        add_products<D>(hidden_ + from * D, outer, rows, sum + W2, weight, part(W2));
        add_rows<D>(outer, rows, sum + B2, weight, part(B2));
    }

    // Lanes: gradient by the hidden layer before its ReLU, of the step last collected.
    alignas(64) float back[D * TILE];

private:
    void put(const float *lanes, float *rows, const int64_t (&row)[TILE]) {
        float *to[TILE];
        for (int lane = 0; lane < TILE; ++lane)
            to[lane] = rows + (row[lane] < 0 ? spare_ : row[lane]) * D;
        lanes_to_rows<D>(lanes, to);
    }

    int64_t spare_;
    Buffer<float> input_, hidden_, hidden_gradient_, gradient_;
};

}  // namespace metasage::METASAGE_LEVEL
