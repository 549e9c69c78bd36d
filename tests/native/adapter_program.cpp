// Runs the adapter's layer and the way back through it, and the same in double precision.
//
// All inputs are small whole numbers or halves of them. Their sums have few enough digits for
// floats, in whatever order they are added, so that the results have to be equal.

#define METASAGE_LEVEL improve

#include <random>
#include <vector>

#include "adapter_reference.h"
#include "require.h"
#include "rollout/adapter.h"

using namespace metasage;
using namespace metasage::improve;

namespace {

constexpr int INSTANCES = 2;
// A hidden number that is zero, where the ReLU has two slopes.
constexpr int AT_ZERO = 5;

class Draw {
public:
    int below(int bound) { return int(random_() % uint32_t(bound)); }
    std::vector<float> numbers(int64_t count) {
        std::vector<float> all(count);
        for (float &one : all) one = float(below(5) - 2);
        return all;
    }

private:
    std::mt19937 random_{1};
};

// A step of the decoder, of which only the part behind the glimpse is used.
template <int D>
struct Step : QueryTile<D> {
    using QueryTile<D>::QueryTile, QueryTile<D>::pass_on, QueryTile<D>::use_instance;
};

template <int D>
class AdapterTest {
public:
    AdapterTest(AdapterPlace place, bool shared, bool skip, Draw &draw)
        : draw_(draw),
          combine_weight_(draw.numbers(D * D)),
          combine_bias_(draw.numbers(D)),
          w1_(draw.numbers(INSTANCES * D * D)),
          b1_(draw.numbers(INSTANCES * D)),
          w2_(draw.numbers(INSTANCES * D * D)),
          b2_(draw.numbers(INSTANCES * D)) {
        // Halves keep the ReLU away from zero, where differences would mean nothing.
        for (float &bias : b1_) bias += 0.5f;
        for (int i = 0; i < INSTANCES * D; ++i) w1_[i * D + AT_ZERO] = 0.0f;
        for (int i = 0; i < INSTANCES; ++i) b1_[i * D + AT_ZERO] = 0.0f;
        decoder_.skip = skip;
        decoder_.combine_weight = combine_weight_.data();
        decoder_.combine_bias = combine_bias_.data();
        Adapter &adapter = decoder_.adapter;
        adapter.w1 = w1_.data(), adapter.b1 = b1_.data();
        adapter.w2 = w2_.data(), adapter.b2 = b2_.data();
        adapter.place = place, adapter.shared = shared;
    }

    void run(int instance, int64_t rows) {
        const int64_t own = decoder_.adapter.shared ? 0 : instance;
        const auto take = [&](const std::vector<float> &from, int64_t size, int to) {
            std::copy_n(from.begin() + own * size, size, layer_.weights.begin() + to);
        };
        take(w1_, D * D, Layer<D>::W1), take(b1_, D, Layer<D>::B1);
        take(w2_, D * D, Layer<D>::W2), take(b2_, D, Layer<D>::B2);
        x_.assign(rows * D, 0.0), gradient_.assign(rows * D, 0.0);
        Step<D> step(decoder_);
        step.use_instance(instance);
        AdapterRows<D> collected(rows);
        // The last rows first, and lanes in between that have none.
        for (int64_t left = rows; left > 0;) {
            int64_t row[TILE];
            for (int64_t &one : row) one = left > 0 && draw_.below(4) > 0 ? --left : -1;
            go_forward(step, row);
            go_back(step, row, collected);
        }
        check_sums(collected, 0, rows);
        check_sums(collected, rows / 3, rows - rows / 2);
        check_differences(collected, rows);
    }

private:
    void go_forward(Step<D> &step, const int64_t (&row)[TILE]) {
        const std::vector<float> queries = draw_.numbers(TILE * D);
        const std::vector<float> glimpses = draw_.numbers(TILE * D);
        std::copy(queries.begin(), queries.end(), step.query_rows[0]);
        std::copy(glimpses.begin(), glimpses.end(), step.glimpse);
        step.pass_on();
        for (int lane = 0; lane < TILE; ++lane) {
            const float *query = queries.data() + lane * D;
            const bool after = decoder_.adapter.place == AdapterPlace::after;
            std::vector<double> x(D);
            for (int k = 0; k < D; ++k) x[k] = glimpses[k * TILE + lane];
            if (after) x = combine(x, query);
            const std::vector<double> y = layer_.output(x.data());
            const std::vector<double> context = !after && decoder_.skip ? combine(y, query) : y;
            for (int k = 0; k < D; ++k) {
                const int at = k * TILE + lane;
                require(step.adapted[at] == y[k], "width %d: adapted %g instead of %g", D,
                        step.adapted[at], y[k]);
                require(step.context[at] == context[k], "width %d: context %g instead of %g", D,
                        step.context[at], context[k]);
                if (row[lane] >= 0) x_[row[lane] * D + k] = x[k];
            }
        }
    }

    std::vector<double> combine(const std::vector<double> &input, const float *query) const {
        std::vector<double> out(D);
        for (int k = 0; k < D; ++k) {
            out[k] = combine_bias_[k] + (decoder_.skip ? query[k] : 0.0f);
            for (int i = 0; i < D; ++i) out[k] += combine_weight_[k * D + i] * input[i];
        }
        return out;
    }

    void go_back(const Step<D> &step, const int64_t (&row)[TILE], AdapterRows<D> &collected) {
        const std::vector<float> gradient = draw_.numbers(D * TILE);
        collected.collect(step, gradient.data(), row);
        for (int lane = 0; lane < TILE; ++lane) {
            if (row[lane] < 0) continue;
            for (int k = 0; k < D; ++k) gradient_[row[lane] * D + k] = gradient[k * TILE + lane];
            const std::vector<double> back = hidden_gradient(row[lane]);
            for (int k = 0; k < D; ++k)
                require(collected.back[k * TILE + lane] == back[k],
                        "width %d: gradient %g instead of %g by the hidden layer", D,
                        collected.back[k * TILE + lane], back[k]);
        }
    }

    std::vector<double> hidden_gradient(int64_t row) const {
        const std::vector<double> sum = layer_.sums(x_.data() + row * D);
        std::vector<double> back(D);
        for (int k = 0; k < D; ++k)
            for (int l = 0; l < D && sum[k] > 0.0; ++l)
                back[k] += layer_.weights[Layer<D>::W2 + k * D + l] * gradient_[row * D + l];
        return back;
    }

    // By the chain rule, all weights.
    void check_sums(const AdapterRows<D> &collected, int64_t from, int64_t rows) {
        using L = Layer<D>;
        std::vector<double> wanted(L::SIZE);
        for (int64_t row = from; row < from + rows; ++row) {
            const double *x = x_.data() + row * D, *gradient = gradient_.data() + row * D;
            const std::vector<double> sum = layer_.sums(x), back = hidden_gradient(row);
            for (int k = 0; k < D; ++k) {
                wanted[L::B1 + k] += back[k];
                wanted[L::B2 + k] += gradient[k];
                for (int l = 0; l < D; ++l) {
                    wanted[L::W1 + k * D + l] += x[k] * back[l];
                    wanted[L::W2 + k * D + l] += std::max(sum[k], 0.0) * gradient[l];
                }
            }
        }
        // Sums are added to what is there.
        const std::vector<float> before = draw_.numbers(L::SIZE);
        std::vector<float> plain = before, also = before, weighted = before;
        collected.add_to(plain.data(), 99.0f, nullptr, from, rows);
        collected.add_to(also.data(), -0.5f, weighted.data(), from, rows);
        for (int i = 0; i < L::SIZE; ++i) {
            require(plain[i] == before[i] + wanted[i] && also[i] == plain[i],
                    "width %d: gradient %g instead of %g by %d", D, plain[i] - before[i], wanted[i],
                    i);
            require(weighted[i] == before[i] - 0.5 * wanted[i],
                    "width %d: weighted gradient %g by %d", D, weighted[i], i);
        }
    }

    // By differences, a few weights of each kind.
    void check_differences(const AdapterRows<D> &collected, int64_t rows) {
        std::vector<float> found(Layer<D>::SIZE);
        collected.add_to(found.data(), 0.0f, nullptr, 0, rows);
        // Too small to take any hidden number past zero.
        const double step = 0x1p-12;
        using L = Layer<D>;
        const int begins[] = {L::W1, L::B1, L::W2, L::B2, L::SIZE};
        for (int kind = 0; kind < 4; ++kind)
            for (int i = 0; i < 4; ++i) {
                const int at = begins[kind] + draw_.below(begins[kind + 1] - begins[kind]);
                if (kind < 2 && at % D == AT_ZERO) continue;
                const double kept = layer_.weights[at];
                layer_.weights[at] = kept + step;
                const double more = loss(rows);
                layer_.weights[at] = kept - step;
                const double less = loss(rows);
                layer_.weights[at] = kept;
                const double slope = (more - less) / (2.0 * step);
                require(found[at] == slope, "width %d: gradient %g by %d, and not the slope %g", D,
                        found[at], at, slope);
            }
    }

    double loss(int64_t rows) const {
        double sum = 0.0;
        for (int64_t row = 0; row < rows; ++row) {
            const std::vector<double> y = layer_.output(x_.data() + row * D);
            for (int k = 0; k < D; ++k) sum += gradient_[row * D + k] * y[k];
        }
        return sum;
    }

    Draw &draw_;
    std::vector<float> combine_weight_, combine_bias_, w1_, b1_, w2_, b2_;
    Decoder decoder_{};
    Layer<D> layer_;
    // What entered the adapter and the gradient by what left it, row by row.
    std::vector<double> x_, gradient_;
};

template <int D>
void run_all() {
    Draw draw;
    // Sums are made of 64 rows at once.
    for (const int64_t rows : {1, 2, 63, 64, 65, 130}) {
        const bool shared = rows % 2 == 0, skip = rows > 63;
        AdapterTest<D>(AdapterPlace::after, shared, skip, draw).run(1, rows);
        AdapterTest<D>(AdapterPlace::before, shared, skip, draw).run(1, rows);
    }
}

}  // namespace

int main() {
    run_all<64>();
    run_all<128>();
    std::printf("all adapters are right\n");
}
