// One step of the decoder for a tile: from states to probabilities of the nodes.

#pragma once

#include "rollout/logits.h"
#include "rollout/nodes.h"
#include "rollout/query.h"

namespace metasage::METASAGE_LEVEL {

template <int D>
class Step : public QueryTile<D> {
    using Base = QueryTile<D>;

public:
    using Base::HEAD, Base::context, Base::glimpse, Base::query_rows;

    // Whether the glimpse's weights of all heads are kept, for the backward pass.
    Step(const Decoder &decoder, bool keep_weights)
        : Base(decoder),
          attention(padded(decoder), keep_weights, decoder.glimpse_locality),
          edges_(decoder) {
        const int64_t padded = Step::padded(decoder);
        if (decoder.has_locality()) distances.resize(padded);
        allowed.resize(padded);
        group_ids_.resize(padded / GROUP);
        place_.resize(padded / GROUP);
        for (Buffer<float> *buffer : {&logits_, &chances_, &slopes_}) buffer->resize(padded * TILE);
    }

    // Bits of the lanes that may go to a node, to be set before each step.
    Buffer<Bits> allowed;
    TileAttention<D> attention;
    // How far the slots' nodes are, where the policy has a preference.
    Distances distances;

    void use(const Nodes<D> &nodes, int64_t instance) {
        nodes_ = &nodes;
        Base::use_instance(instance);
        edges_.use(instance);
    }

    Groups groups() const { return {group_ids_, num_groups_}; }
    const Nodes<D> &nodes() const { return *nodes_; }
    int slots() const { return num_groups_ * GROUP; }
    int slot_of(int node) const { return place_[node / GROUP] * GROUP + node % GROUP; }
    int node_of(int slot, int = 0) const { return group_ids_[slot / GROUP] * GROUP + slot % GROUP; }

    void set_lane(int lane, const State &state, float scalar) {
        Base::set_query(lane, state, scalar);
        const bool somewhere = state.current >= 0;
        const int64_t place = 2 * (instance_ * decoder_.nodes + state.current);
        somewhere_[lane] = somewhere;
        node_[lane] = state.current;
        here_.set(lane, somewhere ? decoder_.coords + place : nullptr,
                  Base::inverse_unit(state.current));
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
        if (decoder_.has_locality())
            distances.measure(nodes_->x, nodes_->y, nodes_->depot, groups(), here_);
        attention.run(*nodes_, groups(), allowed, query_rows, distances, glimpse);
        Base::pass_on();
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

    // Gradient of weight * log p(chosen) by the context, as lanes. That by the
    // pointer products takes the place of the chances.
    void context_gradient(const int32_t (&chosen)[TILE], const float (&weight)[TILE],
                          float *gradient) {
        differentiate(chosen, weight);
        std::memset(gradient, 0, D * TILE * sizeof(float));
        add_sums<D, D>(nodes_->pointers, groups(), chances_, gradient);
    }
    const float *score_gradient() const { return chances_; }

    // Adds the gradient of weight * log p(chosen) by the pointer's strengths; before
    // `context_gradient`, which needs the room.
    void add_pointer_locality(const int32_t (&chosen)[TILE], const float (&weight)[TILE],
                              float *gradient) const {
        const Clipping clipping(decoder_);
        StrengthSums sums;
        for (int v = 0; v < VECTORS; ++v) {
            const IntVector choice = load<IntVector>(chosen + v * LANES);
            const Vector scale = load(weight + v * LANES) * clipping.factor();
            const Vector share = scale / max(load(total_ + v * LANES), fill(TINY));
            for (int s = 0; s < slots(); ++s) {
                const int at = s * TILE + v * LANES;
                const Vector one = choice == s ? scale : Vector{};
                sums.add(
                    (one - load(chances_ + at) * share) * clipping.own_share(load(slopes_ + at)),
                    distances.plain(at), distances.log(at));
            }
        }
        sums.add_to(gradient, 1.0f);
    }

private:
    using Base::decoder_, Base::instance_;

    static int64_t padded(const Decoder &decoder) {
        return (decoder.nodes + GROUP - 1) / GROUP * GROUP;
    }

    // Derivative of weight * log p(chosen) by the argument of tanh, times what
    // follows from there to the pointer product; one number a slot and lane.
    void differentiate(const int32_t (&chosen)[TILE], const float (&weight)[TILE]) {
        const float factor = Clipping(decoder_).factor();
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
    }

    void score() {
        const float *bias = nodes_->pointer_bias;
        dots<D>(nodes_->pointers, groups(), context, [&](int node, int slot, int v, Vector sum) {
            store(logits_ + slot * TILE + v * LANES, sum + bias[node]);
        });
        if (decoder_.pointer_locality)
            clip<true>();
        else
            clip<false>();
        add_bonuses();
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

    template <bool LOCALITY>
    void clip() {
        switch (decoder_.bias) {
            case Bias::none:
                clip<LOCALITY, Bias::none>();
                break;
            case Bias::outside:
                clip<LOCALITY, Bias::outside>();
                break;
            case Bias::inside:
                clip<LOCALITY, Bias::inside>();
                break;
        }
    }

    template <bool LOCALITY, Bias BIAS>
    void clip() {
        const Clipping clipping(decoder_);
        for (int v = 0; v < VECTORS; ++v) {
            const Vector x = load(here_.x + v * LANES), y = load(here_.y + v * LANES);
            const Vector somewhere = load(somewhere_ + v * LANES);
            Vector top = fill(LOWEST);
            for (int s = 0; s < slots(); ++s) {
                const int node = node_of(s), at = s * TILE + v * LANES;
                const Vector dx = x - nodes_->x[node], dy = y - nodes_->y[node];
                Vector d{}, log_d{};
                if constexpr (LOCALITY) {
                    d = distances.plain(at);
                    log_d = distances.log(at);
                }
                const Logit logit =
                    clipping.of<BIAS>(load(logits_ + at), dx * dx + dy * dy, somewhere, d, log_d);
                const Vector kept = keep(allowed[node], v, logit.value, FORBIDDEN);
                top = max(top, kept);
                store(logits_ + at, kept);
                store(slopes_ + at, logit.slope);
            }
            store(top_ + v * LANES, top);
        }
    }

    void add_bonuses() {
        for (int lane = 0; lane < TILE; ++lane)
            edges_.each_from(node_[lane], [&](int32_t target, float bonus) {
                if (!(allowed[target] >> lane & 1)) return;
                float &logit = logits_[slot_of(target) * TILE + lane];
                logit += bonus;
                if (logit > top_[lane]) top_[lane] = logit;
            });
    }

    const Nodes<D> *nodes_ = nullptr;
    Edges edges_;
    Buffer<int32_t> group_ids_, place_;
    int32_t node_[TILE] = {};
    int num_groups_ = 0;
    Buffer<float> logits_, chances_, slopes_;
    Whereabouts here_;
    alignas(64) float somewhere_[TILE] = {};
    alignas(64) float top_[TILE], total_[TILE];
};

}  // namespace metasage::METASAGE_LEVEL
