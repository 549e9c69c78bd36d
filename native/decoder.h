// One step of the decoder for a tile: from states to probabilities of the nodes.

#pragma once

#include "nodes.h"
#include "rules.h"

namespace metasage::METASAGE_LEVEL {

template <int D>
class Step {
public:
    static constexpr int HEAD = D / HEADS;

    // Whether the glimpse's weights of all heads are kept, for the way back.
    Step(const Decoder &decoder, bool keep_weights)
        : decoder_(decoder), keep_weights_(keep_weights) {
        const int64_t padded = (decoder.nodes + GROUP - 1) / GROUP * GROUP;
        allowed.resize(padded);
        group_ids_.resize(padded / GROUP);
        place_.resize(padded / GROUP);
        weights_.resize(padded * TILE * (keep_weights ? HEADS : 1));
        for (Buffer<float> *buffer : {&logits_, &chances_, &slopes_}) buffer->resize(padded * TILE);
        for (int k = 0; k < D / GROUP; ++k) all_dims_[k] = k;
        std::memset(query_rows, 0, sizeof(query_rows));
    }

    // Bits of the lanes that may go to a node, to be set before each step.
    Buffer<Bits> allowed;
    alignas(64) float query_rows[TILE][D];
    // Lanes: the glimpse, what enters the adapter, its hidden layer, and what
    // meets the pointer keys.
    alignas(64) float glimpse[D * TILE], combined[D * TILE];
    alignas(64) float hidden[D * TILE], context[D * TILE];
    // Of each head: one over the sum of the glimpse's weights.
    alignas(64) float inverse[HEADS * TILE];

    void use(const Nodes<D> &nodes, int64_t instance) {
        nodes_ = &nodes;
        instance_ = instance;
        const Adapter &all = decoder_.adapter;
        if (decoder_.edges > 0) find_edges();
        if (all.given())
            adapter = {all.w1 + instance * D * D, all.b1 + instance * D, all.w2 + instance * D * D,
                       all.b2 + instance * D, all.place};
    }
    Adapter adapter;

    const float *adapter_input() const { return decoder_.adapts_after() ? combined : glimpse; }
    Groups groups() const { return {group_ids_, num_groups_}; }
    Groups all_dims() const { return {all_dims_, D / GROUP}; }
    const Nodes<D> &nodes() const { return *nodes_; }
    float *weights(int head) { return weights_ + (keep_weights_ ? head * slots() * TILE : 0); }
    int slots() const { return num_groups_ * GROUP; }
    int slot_of(int node) const { return place_[node / GROUP] * GROUP + node % GROUP; }
    int node_of(int slot) const { return group_ids_[slot / GROUP] * GROUP + slot % GROUP; }

    void set_lane(int lane, const State &state, float scalar) {
        const int64_t first = instance_ * decoder_.nodes;
        float *query = query_rows[lane];
        const bool somewhere = state.current >= 0;
        here_[lane] = somewhere;
        node_[lane] = state.current;
        here_x_[lane] = somewhere ? decoder_.coords[2 * (first + state.current)] : 0.0f;
        here_y_[lane] = somewhere ? decoder_.coords[2 * (first + state.current) + 1] : 0.0f;
        if (!somewhere) {
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

    // Computes the logits of all allowed nodes from the lanes that were set.
    void run() {
        num_groups_ = 0;
        for (int g = 0; g < nodes_->padded / GROUP; ++g) {
            Bits any = 0;
            for (int i = 0; i < GROUP; ++i) any |= allowed[g * GROUP + i];
            if (any == 0) continue;
            place_[g] = num_groups_;
            group_ids_[num_groups_++] = g;
        }
        attend();
        if (decoder_.adapts_after()) {
            const float *bias = decoder_.combine_bias;
            dots<D>(decoder_.combine_weight, all_dims(), glimpse,
                    [&](int out, int, int v, Vector sum) {
                        store(combined + out * TILE + v * LANES, bias ? sum + bias[out] : sum);
                    });
        }
        std::memcpy(context, adapter_input(), sizeof(context));
        if (decoder_.adapter.given()) adapt();
        score();
    }

    // The largest logit of each lane, the lowest node of equals.
    void choose_greedily(int32_t (&slot)[TILE]) const {
        for (int v = 0; v < VECTORS; ++v) {
            Vector best = fill(2.0f * FORBIDDEN);
            IntVector where{};
            for (int s = 0; s < slots(); ++s) {
                const Vector logit = load(logits_ + s * TILE + v * LANES);
                where = logit > best ? IntVector{} + s : where;
                best = max(best, logit);
            }
            std::memcpy(slot + v * LANES, &where, sizeof(where));
        }
    }

    // The first node at which the cumulative probability exceeds the drawn number.
    void choose_by_chance(const float (&drawn)[TILE], int32_t (&slot)[TILE]) const {
        for (int v = 0; v < VECTORS; ++v) {
            const Vector target = load(drawn + v * LANES) * load(total_ + v * LANES);
            Vector sum{};
            IntVector below{}, last{};
            for (int s = 0; s < slots(); ++s) {
                const Vector chance = load(chances_ + s * TILE + v * LANES);
                sum += chance;
                below -= sum <= target;
                last = chance > 0.0f ? IntVector{} + s : last;
            }
            below = below == slots() ? last : below;
            std::memcpy(slot + v * LANES, &below, sizeof(below));
        }
    }

    double log_probability(int lane, int slot) const {
        return double(logits_[slot * TILE + lane] - top_[lane]) * LN2 -
               std::log(double(total_[lane]));
    }

    // Derivative of weight * log p(chosen) by the argument of tanh, times what
    // follows from there to the pointer product; one number a slot and lane.
    float *score_gradient(const int32_t (&chosen)[TILE], const float (&weight)[TILE]) {
        const float factor = decoder_.clip / (decoder_.temperature * __builtin_sqrtf(float(D)));
        for (int v = 0; v < VECTORS; ++v) {
            const Vector scale = load(weight + v * LANES) * factor;
            const Vector share = scale / max(load(total_ + v * LANES), fill(TINY));
            for (int s = 0; s < slots(); ++s) {
                const int at = s * TILE + v * LANES;
                store(chances_ + at, -(load(chances_ + at) * share) * load(slopes_ + at));
            }
        }
        for (int lane = 0; lane < TILE; ++lane)
            if (weight[lane] != 0.0f) {
                const int at = chosen[lane] * TILE + lane;
                chances_[at] += weight[lane] * factor * slopes_[at];
            }
        return chances_;
    }

private:
    static constexpr double LN2 = 0.693147180559945309;

    void attend() {
        alignas(64) float query[D * TILE];
        rows_to_lanes<D>(query_rows[0], D, query);
        // Scores to the base of two: exp2 then needs no further factor.
        const float scale = LOG2E / __builtin_sqrtf(float(HEAD));
        for (int i = 0; i < D * TILE; ++i) query[i] *= scale;
        std::memset(glimpse, 0, sizeof(glimpse));
        for (int h = 0; h < HEADS; ++h) {
            float *weight = weights(h);
            Vector top[VECTORS], sum[VECTORS];
            for (int v = 0; v < VECTORS; ++v) {
                top[v] = fill(LOWEST);
                sum[v] = Vector{};
            }
            dots<HEAD>(nodes_->keys + nodes_->at(h, 0), groups(), query + h * HEAD * TILE,
                       [&](int node, int slot, int v, Vector score) {
                           score = keep(allowed[node], v, score, FORBIDDEN);
                           top[v] = max(top[v], score);
                           store(weight + slot * TILE + v * LANES, score);
                       });
            float *out = glimpse + h * HEAD * TILE;
            // In parts, so that the weights are still at hand when they meet the values.
            for (int g = 0; g < num_groups_; g += CHUNK) {
                const int count = num_groups_ - g < CHUNK ? num_groups_ - g : CHUNK;
                float *part = weight + g * GROUP * TILE;
                for (int s = 0; s < count * GROUP; ++s)
#pragma GCC unroll 8
                    for (int v = 0; v < VECTORS; ++v) {
                        float *at = part + s * TILE + v * LANES;
                        const Vector w = exp2(load(at) - top[v]);
                        sum[v] += w;
                        store(at, w);
                    }
                add_sums<HEAD, HEAD>(nodes_->values + nodes_->at(h, 0), {group_ids_ + g, count},
                                     part, out);
            }
            for (int v = 0; v < VECTORS; ++v) {
                const Vector share = 1.0f / max(sum[v], fill(TINY));
                store(inverse + h * TILE + v * LANES, share);
                for (int k = 0; k < HEAD; ++k) {
                    float *at = out + k * TILE + v * LANES;
                    store(at, load(at) * share);
                }
            }
        }
    }

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

    void score() {
        const float *bias = nodes_->pointer_bias;
        dots<D>(nodes_->pointers, groups(), context, [&](int node, int slot, int v, Vector sum) {
            store(logits_ + slot * TILE + v * LANES, sum + bias[node]);
        });
        switch (decoder_.bias) {
            case Bias::none: clip<Bias::none>(); break;
            case Bias::outside: clip<Bias::outside>(); break;
            case Bias::inside: clip<Bias::inside>(); break;
        }
        if (decoder_.edges > 0) add_bonuses();
        for (int v = 0; v < VECTORS; ++v) {
            const Vector top = load(top_ + v * LANES);
            Vector total{};
            for (int s = 0; s < slots(); ++s) {
                const int at = s * TILE + v * LANES;
                const Vector chance = exp2(load(logits_ + at) - top);
                total += chance;
                store(chances_ + at, chance);
            }
            store(total_ + v * LANES, total);
        }
    }

    // From pointer products to logits (to the base of two).
    template <Bias BIAS>
    void clip() {
        const float root = 1.0f / __builtin_sqrtf(float(D));
        const float heat = LOG2E / decoder_.temperature, strength = decoder_.bias_strength;
        for (int v = 0; v < VECTORS; ++v) {
            const Vector x = load(here_x_ + v * LANES), y = load(here_y_ + v * LANES);
            const Vector here = load(here_ + v * LANES);
            Vector top = fill(LOWEST);
            for (int s = 0; s < slots(); ++s) {
                const int node = node_of(s), at = s * TILE + v * LANES;
                Vector score = load(logits_ + at) * root, penalty{};
                if constexpr (BIAS != Bias::none) {
                    const Vector dx = x - nodes_->x[node], dy = y - nodes_->y[node];
                    const Vector square = dx * dx + dy * dy;
                    if constexpr (BIAS == Bias::outside)
                        penalty = here * (strength * square_root(square));
                    else
                        score -= here * power(square, 0.5f * strength);
                }
                const Vector t = tanh(score);
                const Vector logit = (t * decoder_.clip - penalty) * heat;
                const Vector kept = keep(allowed[node], v, logit, FORBIDDEN);
                top = max(top, kept);
                store(logits_ + at, kept);
                store(slopes_ + at, 1.0f - t * t);
            }
            store(top_ + v * LANES, top);
        }
    }

    // Where the edges of each node begin in the sorted list.
    void find_edges() {
        const int32_t *sources = decoder_.edge_sources + instance_ * decoder_.edges;
        first_edge_.resize(decoder_.nodes + 1);
        int64_t edge = 0;
        for (int64_t node = 0; node <= decoder_.nodes; ++node) {
            while (edge < decoder_.edges && sources[edge] < node) ++edge;
            first_edge_[node] = int32_t(edge);
        }
    }

    void add_bonuses() {
        const int64_t at = instance_ * decoder_.edges;
        for (int lane = 0; lane < TILE; ++lane) {
            if (node_[lane] < 0) continue;
            for (int e = first_edge_[node_[lane]]; e < first_edge_[node_[lane] + 1]; ++e) {
                const int32_t target = decoder_.edge_targets[at + e];
                if (!(allowed[target] >> lane & 1)) continue;
                float &logit = logits_[slot_of(target) * TILE + lane];
                logit += decoder_.edge_bonuses[at + e] * LOG2E;
                if (logit > top_[lane]) top_[lane] = logit;
            }
        }
    }

    const Decoder &decoder_;
    bool keep_weights_;
    const Nodes<D> *nodes_ = nullptr;
    int64_t instance_ = 0;
    Buffer<int32_t> group_ids_, place_, first_edge_;
    int32_t node_[TILE] = {};
    int num_groups_ = 0;
    int32_t all_dims_[D / GROUP];
    Buffer<float> weights_, logits_, chances_, slopes_;
    alignas(64) float here_[TILE] = {}, here_x_[TILE] = {}, here_y_[TILE] = {};
    alignas(64) float top_[TILE], total_[TILE];
};

}  // namespace metasage::METASAGE_LEVEL
