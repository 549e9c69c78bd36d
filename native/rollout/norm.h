// Instance norm: each dimension is normalised over the nodes of an instance.

#pragma once

#include <cmath>
#include <vector>

#include "rollout/kernel.h"

namespace metasage::METASAGE_LEVEL {

constexpr float NORM_EPSILON = 1e-5f;

inline void norm_forward(const Norm &norm) {
    const int64_t n = norm.nodes, d = norm.width;
#pragma omp parallel for num_threads(norm.threads) schedule(static)
    for (int64_t b = 0; b < norm.instances; ++b) {
        const float *x = norm.x + b * n * d;
        float *mean = norm.mean + b * d, *scale = norm.scale + b * d, *y = norm.y + b * n * d;
        for (int64_t k = 0; k < d; ++k) mean[k] = scale[k] = 0.0f;
        for (int64_t i = 0; i < n; ++i)
            for (int64_t k = 0; k < d; ++k) mean[k] += x[i * d + k];
        for (int64_t k = 0; k < d; ++k) mean[k] /= float(n);
        for (int64_t i = 0; i < n; ++i)
            for (int64_t k = 0; k < d; ++k) {
                const float centred = x[i * d + k] - mean[k];
                scale[k] += centred * centred;
            }
        for (int64_t k = 0; k < d; ++k)
            scale[k] = 1.0f / std::sqrt(scale[k] / float(n) + NORM_EPSILON);
        for (int64_t i = 0; i < n; ++i)
            for (int64_t k = 0; k < d; ++k)
                y[i * d + k] =
                    (x[i * d + k] - mean[k]) * (scale[k] * norm.weight[k]) + norm.bias[k];
    }
}

inline void norm_backward(const Norm &norm) {
    const int64_t n = norm.nodes, d = norm.width;
    // Sums of each instance, added in order afterwards whatever the threads do.
    std::vector<float> sums(2 * norm.instances * d);
#pragma omp parallel for num_threads(norm.threads) schedule(static)
    for (int64_t b = 0; b < norm.instances; ++b) {
        const float *x = norm.x + b * n * d, *g = norm.gradient + b * n * d;
        const float *mean = norm.mean + b * d, *scale = norm.scale + b * d;
        float *dx = norm.y + b * n * d;
        float *plain = sums.data() + 2 * b * d, *along = plain + d;
        for (int64_t i = 0; i < n; ++i)
            for (int64_t k = 0; k < d; ++k) {
                plain[k] += g[i * d + k];
                along[k] += g[i * d + k] * ((x[i * d + k] - mean[k]) * scale[k]);
            }
        const float share = 1.0f / float(n);
        for (int64_t i = 0; i < n; ++i)
            for (int64_t k = 0; k < d; ++k) {
                const float normal = (x[i * d + k] - mean[k]) * scale[k];
                const float rest = g[i * d + k] - share * (plain[k] + normal * along[k]);
                dx[i * d + k] = norm.weight[k] * scale[k] * rest;
            }
    }
    for (int64_t b = 0; b < norm.instances; ++b)
        for (int64_t k = 0; k < d; ++k) {
            norm.bias_gradient[k] += sums[2 * b * d + k];
            norm.weight_gradient[k] += sums[(2 * b + 1) * d + k];
        }
}

}  // namespace metasage::METASAGE_LEVEL
