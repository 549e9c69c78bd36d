// A tile's queries: from states to the glimpse, and from there to the pointer.

#pragma once

#include "products.h"
#include "rules.h"

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
    // Lanes: the glimpse, what enters the adapter, its hidden layer, and what
    // meets the pointer keys.
    alignas(64) float glimpse[D * TILE], combined[D * TILE];
    alignas(64) float hidden[D * TILE], context[D * TILE];
    Adapter adapter;

    const float *adapter_input() const { return decoder_.adapts_after() ? combined : glimpse; }
    Groups all_dims() const { return {all_dims_, D / GROUP}; }

protected:
    void use_instance(int64_t instance) {
        instance_ = instance;
        const Adapter &all = decoder_.adapter;
        if (all.given())
            adapter = {all.w1 + instance * D * D, all.b1 + instance * D, all.w2 + instance * D * D,
                       all.b2 + instance * D, all.place};
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
        if (decoder_.adapts_after()) {
            const float *bias = decoder_.combine_bias;
            dots<D>(decoder_.combine_weight, all_dims(), glimpse,
                    [&](int out, int, int v, Vector sum) {
                        store(combined + out * TILE + v * LANES, bias ? sum + bias[out] : sum);
                    });
        }
        std::memcpy(context, adapter_input(), sizeof(context));
        if (decoder_.adapter.given()) adapt();
    }

    const Decoder &decoder_;
    int64_t instance_ = 0;

private:
    void adapt() {
        for (int k = 0; k < D; ++k)
            for (int v = 0; v < VECTORS; ++v)
                store(hidden + k * TILE + v * LANES, fill(adapter.b1[k]));
        add_sums<D, D>(adapter.w1, all_dims(), adapter_input(), hidden);
        for (int i = 0; i < D * TILE; i += LANES)
            store(hidden + i, max(load(hidden + i), Vector{}));
        for (int k = 0; k < D; ++k)
            for (int v = 0; v < VECTORS; ++v) {
                float *at = context + k * TILE + v * LANES;
                store(at, load(at) + adapter.b2[k]);
            }
        add_sums<D, D>(adapter.w2, all_dims(), hidden, context);
    }

    int32_t all_dims_[D / GROUP];
};

}  // namespace metasage::METASAGE_LEVEL
