// A tile's queries: from states to the glimpse, and from there to the pointer.

#pragma once

#include "rollout/products.h"
#include "rollout/rules.h"

namespace metasage::METASAGE_LEVEL {

template <int D>
class QueryTile {
public:
    static constexpr int HEAD = D / HEADS;

    explicit QueryTile(const Decoder &decoder) : decoder_(decoder) {
        for (int k = 0; k < D / GROUP; ++k) all_dims_[k] = k;
        std::memset(query_rows, 0, sizeof(query_rows));
    }

    alignas(64) float query_rows[TILE][D];
    // Lanes: the glimpse, the combined glimpse, the adapter's hidden layer and what
    // comes out of it, and what meets the pointer keys.
    alignas(64) float glimpse[D * TILE], combined[D * TILE];
    alignas(64) float hidden[D * TILE], adapted[D * TILE], context[D * TILE];
    Adapter adapter;

    const float *adapter_input() const { return decoder_.adapts_after() ? combined : glimpse; }
    const float *combine_input() const { return decoder_.adapts_before() ? adapted : glimpse; }
    Groups all_dims() const { return {all_dims_, D / GROUP}; }

protected:
    void use_instance(int64_t instance) {
        instance_ = instance;
        const Adapter &all = decoder_.adapter;
        const int64_t own = all.shared ? 0 : instance * D;
        if (all.given())
            adapter = {all.w1 + own * D, all.b1 + own, all.w2 + own * D, all.b2 + own, all.place};
    }

    // One over the instance's unit of distance, or 0 where the policy's preference for
    // near nodes has nothing to say.
    float inverse_unit(int32_t node) const {
        const bool depot = node == 0 && decoder_.problem != Problem::tsp;
        return !decoder_.has_locality() || node < 0 || depot ? 0.0f
                                                             : 1.0f / decoder_.unit[instance_];
    }

    void set_query(int lane, const State &state, float scalar) {
        const int64_t first = instance_ * decoder_.nodes;
        float *query = query_rows[lane];
        if (state.current < 0) {
            std::memcpy(query, decoder_.query_start + instance_ * D, D * sizeof(float));
            return;
        }
        const float *last = decoder_.query_last + (first + state.current) * D;
        std::memcpy(query, last, D * sizeof(float));
        if (decoder_.query_first != nullptr) {
            const float *begun = decoder_.query_first + (first + state.first) * D;
            for (int k = 0; k < D; ++k) query[k] += begun[k];
        }
        if (decoder_.query_scalar != nullptr)
            for (int k = 0; k < D; ++k) query[k] += scalar * decoder_.query_scalar[k];
    }

    // From the glimpse to the context.
    void pass_on() {
        if (decoder_.adapts_before()) adapt(glimpse);
        if (decoder_.combines()) combine();
        if (decoder_.adapts_after()) adapt(combined);
        const float *last = decoder_.adapts_after() ? adapted
                            : decoder_.combines()   ? combined
                                                    : combine_input();
        std::memcpy(context, last, sizeof(context));
    }

    const Decoder &decoder_;
    int64_t instance_ = 0;

private:
    void combine() {
        const float *bias = decoder_.combine_bias;
        if (decoder_.skip)
            rows_to_lanes<D>(query_rows[0], D, combined);
        else
            std::memset(combined, 0, sizeof(combined));
        dots<D>(decoder_.combine_weight, all_dims(), combine_input(),
                [&](int out, int, int v, Vector sum) {
                    float *at = combined + out * TILE + v * LANES;
                    store(at, load(at) + (bias ? sum + bias[out] : sum));
                });
    }

    void adapt(const float *input) {
        for (int k = 0; k < D; ++k)
            for (int v = 0; v < VECTORS; ++v)
                store(hidden + k * TILE + v * LANES, fill(adapter.b1[k]));
        add_sums<D, D>(adapter.w1, all_dims(), input, hidden);
        for (int i = 0; i < D * TILE; i += LANES)
            store(hidden + i, max(load(hidden + i), Vector{}));
        for (int k = 0; k < D; ++k)
            for (int v = 0; v < VECTORS; ++v) {
                const int at = k * TILE + v * LANES;
                store(adapted + at, load(input + at) + adapter.b2[k]);
            }
        add_sums<D, D>(adapter.w2, all_dims(), hidden, adapted);
    }

    int32_t all_dims_[D / GROUP];
};

}  // namespace metasage::METASAGE_LEVEL
