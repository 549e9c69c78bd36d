// The adapter's layer x + relu(x w1 + b1) w2 + b2 in double precision, written as it is read.

#pragma once

#include <algorithm>
#include <vector>

template <int D>
struct Layer {
    // Of the layout (w1, b1, w2, b2).
    static constexpr int W1 = 0, B1 = D * D, W2 = B1 + D, B2 = W2 + D * D, SIZE = B2 + D;

    std::vector<double> weights = std::vector<double>(SIZE);

    // The hidden layer before its ReLU.
    std::vector<double> sums(const double *x) const {
        std::vector<double> sum(&weights[B1], &weights[B1] + D);
        add_product(x, &weights[W1], sum);
        return sum;
    }

    std::vector<double> output(const double *x) const {
        std::vector<double> hidden = sums(x), y(x, x + D);
        for (double &one : hidden) one = std::max(one, 0.0);
        for (int k = 0; k < D; ++k) y[k] += weights[B2 + k];
        add_product(hidden.data(), &weights[W2], y);
        return y;
    }

private:
    static void add_product(const double *x, const double *matrix, std::vector<double> &out) {
        for (int i = 0; i < D; ++i)
            for (int k = 0; k < D; ++k) out[k] += x[i] * matrix[i * D + k];
    }
};
