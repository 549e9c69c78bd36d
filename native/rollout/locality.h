// How far nodes are from where the lanes of a tile are, and the preference for near ones.

#pragma once

#include "rollout/products.h"

namespace metasage::METASAGE_LEVEL {

// A distance d in units of the mean distance between neighbours enters scores in two
// measures: as it is, and as log2(1 + d). Each has a strength of its own.
constexpr int MEASURES = 2;

struct Strengths {
    float plain = 0.0f, log = 0.0f;

    Strengths() = default;
    Strengths(const float *numbers, float factor)
        : plain(numbers[0] * factor), log(numbers[1] * factor) {}

    Vector of(Vector d, Vector log_d) const { return plain * d + log * log_d; }
};

// Sums of a gradient times both measures, lane by lane until the end.
struct StrengthSums {
    Vector plain{}, log{};

    void add(Vector gradient, Vector d, Vector log_d) {
        plain += gradient * d;
        log += gradient * log_d;
    }

    // Adds factor times the sums to two numbers.
    void add_to(float *numbers, float factor) const {
        float total[MEASURES] = {};
        for (int lane = 0; lane < LANES; ++lane) {
            total[0] += plain[lane];
            total[1] += log[lane];
        }
        for (int i = 0; i < MEASURES; ++i) numbers[i] += factor * total[i];
    }
};

// Where lanes are. `inverse_unit` is 0 where there is no distance to speak of: no
// current node, or the depot, which is near to no node and far from none.
struct Whereabouts {
    alignas(64) float x[TILE] = {}, y[TILE] = {}, inverse_unit[TILE] = {};

    void set(int lane, const float *place, float inverse) {
        x[lane] = place != nullptr ? place[0] : 0.0f;
        y[lane] = place != nullptr ? place[1] : 0.0f;
        inverse_unit[lane] = inverse;
    }
};

inline Vector log_of(Vector d) { return log2(1.0f + d); }

// Both measures of all slots of a tile, [slot][TILE].
class Distances {
public:
    void resize(int64_t slots) {
        plain_.resize(slots * TILE);
        log_.resize(slots * TILE);
    }

    // Nodes have the places x and y; `depot` is the number of the depot, or -1.
    void measure(const float *x, const float *y, int depot, Groups groups,
                 const Whereabouts &here) {
        for (int g = 0; g < groups.count; ++g)
            for (int i = 0; i < GROUP; ++i) {
                const int node = groups.ids[g] * GROUP + i;
                const float wanted = node == depot ? 0.0f : 1.0f;
                for (int v = 0; v < VECTORS; ++v) {
                    const Vector dx = load(here.x + v * LANES) - x[node];
                    const Vector dy = load(here.y + v * LANES) - y[node];
                    const Vector d = square_root(dx * dx + dy * dy) *
                                     (wanted * load(here.inverse_unit + v * LANES));
                    const int at = (g * GROUP + i) * TILE + v * LANES;
                    store(plain_ + at, d);
                    store(log_ + at, log_of(d));
                }
            }
    }

    Vector plain(int64_t at) const { return load(plain_ + at); }
    Vector log(int64_t at) const { return load(log_ + at); }

private:
    Buffer<float> plain_, log_;
};

}  // namespace metasage::METASAGE_LEVEL
