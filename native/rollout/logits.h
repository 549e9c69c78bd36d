// From pointer products to logits, and the bonuses on edges.

#pragma once

#include "rollout/locality.h"

namespace metasage::METASAGE_LEVEL {

constexpr double LN2 = 0.693147180559945309;

// Logits are to the base of two: exp2 then needs no further factor.
struct Logit {
    Vector value, slope;
};

// The settings that logits depend on.
class Clipping {
public:
    explicit Clipping(const Decoder &decoder)
        : root_(1.0f / __builtin_sqrtf(float(decoder.width))),
          clip_(decoder.clip),
          heat_(LOG2E / decoder.temperature),
          strength_(decoder.bias_strength),
          factor_(decoder.clip / (decoder.temperature * __builtin_sqrtf(float(decoder.width)))),
          inside_(decoder.locality_inside),
          outside_(!decoder.locality_inside) {
        if (decoder.pointer_locality) strengths_ = Strengths(decoder.pointer_locality, 1.0f);
    }

    // `square` is the squared distance of the nodes; `here` is 1, or 0 where there
    // is no current node and so no distance; d and log_d are the measures of the policy's
    // own preference.
    template <Bias BIAS>
    Logit of(Vector product, Vector square, Vector here, Vector d, Vector log_d) const {
        const Vector own = strengths_.of(d, log_d);
        Vector score = product * root_ - inside_ * own, penalty = outside_ * own;
        if constexpr (BIAS == Bias::outside) penalty += here * (strength_ * square_root(square));
        if constexpr (BIAS == Bias::inside) score -= here * power(square, 0.5f * strength_);
        const Vector t = tanh(score);
        return {(t * clip_ - penalty) * heat_, 1.0f - t * t};
    }

    // From d log p / d logit to that by the product, but for the slope of tanh.
    float factor() const { return factor_; }

    // What d log p / d own measure is of that by the product, where the slope of tanh
    // is `slope`.
    Vector own_share(Vector slope) const { return -(inside_ * slope + outside_ / clip_) / root_; }

private:
    float root_, clip_, heat_, strength_, factor_, inside_, outside_;
    Strengths strengths_;
};

// The edges with bonuses of one instance.
class Edges {
public:
    explicit Edges(const Decoder &decoder) : decoder_(decoder) {}

    void use(int64_t instance) {
        if (decoder_.edges == 0) return;
        at_ = instance * decoder_.edges;
        const int32_t *sources = decoder_.edge_sources + at_;
        first_.resize(decoder_.nodes + 1);
        int64_t edge = 0;
        for (int64_t node = 0; node <= decoder_.nodes; ++node) {
            while (edge < decoder_.edges && sources[edge] < node) ++edge;
            first_[node] = int32_t(edge);
        }
    }

    // Calls what(target, bonus) for each edge that leaves a node.
    template <class Do>
    void each_from(int32_t node, Do what) const {
        if (decoder_.edges == 0 || node < 0) return;
        for (int64_t e = at_ + first_[node]; e < at_ + first_[node + 1]; ++e)
            what(decoder_.edge_targets[e], decoder_.edge_bonuses[e] * LOG2E);
    }

private:
    const Decoder &decoder_;
    int64_t at_ = 0;
    Buffer<int32_t> first_;
};

}  // namespace metasage::METASAGE_LEVEL
