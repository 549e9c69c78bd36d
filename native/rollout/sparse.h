// One step of the decoder for a tile of rollouts that each have their own few
// candidates.

#pragma once

#include "rollout/candidates.h"
#include "rollout/logits.h"
#include "rollout/query.h"
#include "rollout/sparse_rows.h"

namespace metasage::METASAGE_LEVEL {

template <int D>
class SparseStep : public QueryTile<D> {
    using Base = QueryTile<D>;

public:
    using Base::HEAD, Base::query_rows;

    // What a lane decides between; slots are candidates in ascending order.
    struct NearNodes {
        int32_t node = -1;
        int count = 0;
        Buffer<int32_t> ids;
        // [slot][PAIR]: weights of the glimpse, not divided by their sums.
        Buffer<float> weights;
        Buffer<float> logits, chances, slopes;
        // Both measures of the distances, where the policy has a preference.
        Buffer<float> distances, log_distances;
        alignas(64) float inverse[PAIR];
        float top = 0.0f, total = 0.0f;

        void hold(int nodes) {
            const int padded = (nodes + PAIR - 1) / PAIR * PAIR;
            count = nodes;
            if (ids.size() >= padded) return;
            ids.resize(padded);
            weights.resize(padded * PAIR);
            for (Buffer<float> *buffer : {&logits, &chances, &slopes, &distances, &log_distances})
                buffer->resize(padded);
        }

        int slot_of(int32_t wanted) const {
            return int(std::lower_bound(ids + 0, ids + count, wanted) - ids);
        }
    };

    explicit SparseStep(const Decoder &decoder) : Base(decoder), edges_(decoder) {
        std::memset(glimpse_rows, 0, sizeof(glimpse_rows));
    }

    NearNodes lanes[TILE];
    alignas(64) float glimpse_rows[TILE][D], context_rows[TILE][D];

    void use(const SparseNodes<D> &nodes, int64_t instance) {
        nodes_ = &nodes;
        Base::use_instance(instance);
        edges_.use(instance);
    }

    const SparseNodes<D> &nodes() const { return *nodes_; }
    bool has_glimpse_locality() const { return decoder_.glimpse_locality != nullptr; }
    int node_of(int slot, int lane) const { return slot < 0 ? -1 : lanes[lane].ids[slot]; }

    void clear() {
        for (NearNodes &lane : lanes) lane.count = 0;
    }

    void set_lane(int number, const State &state, float scalar,
                  const std::vector<int32_t> &candidates) {
        Base::set_query(number, state, scalar);
        NearNodes &lane = lanes[number];
        lane.node = state.current;
        lane.hold(int(candidates.size()));
        // Slots beyond the last read some node, and nothing comes of it.
        for (int s = 0; s < lane.ids.size(); ++s) lane.ids[s] = s < lane.count ? candidates[s] : 0;
    }

    void run() {
        for (int number = 0; number < TILE; ++number) {
            if (lanes[number].count == 0) continue;
            if (decoder_.has_locality()) measure(lanes[number]);
            attend(number);
        }
        if (decoder_.adapter.given() || decoder_.combines()) {
            rows_to_lanes<D>(glimpse_rows[0], D, Base::glimpse);
            Base::pass_on();
            lanes_to_tile_rows<D>(Base::context, context_rows[0]);
        } else {
            std::memcpy(context_rows, glimpse_rows, sizeof(context_rows));
        }
        for (int number = 0; number < TILE; ++number) {
            if (lanes[number].count == 0) continue;
            switch (decoder_.bias) {
                case Bias::none:
                    score<Bias::none>(number);
                    break;
                case Bias::outside:
                    score<Bias::outside>(number);
                    break;
                case Bias::inside:
                    score<Bias::inside>(number);
                    break;
            }
        }
    }

    // The largest logit of each lane, the lowest node of equals; -1 if there is none.
    void choose_greedily(int32_t (&slot)[TILE]) const {
        for (int number = 0; number < TILE; ++number) {
            const NearNodes &lane = lanes[number];
            slot[number] = -1;
            float best = LOWEST;
            for (int s = 0; s < lane.count; ++s)
                if (lane.logits[s] > best) {
                    best = lane.logits[s];
                    slot[number] = s;
                }
        }
    }

    // The first node at which the cumulative probability exceeds the drawn number.
    void choose_by_chance(const float (&drawn)[TILE], int32_t (&slot)[TILE]) const {
        for (int number = 0; number < TILE; ++number) {
            const NearNodes &lane = lanes[number];
            const float target = drawn[number] * lane.total;
            float sum = 0.0f;
            slot[number] = -1;
            for (int s = 0; s < lane.count; ++s) {
                sum += lane.chances[s];
                if (lane.chances[s] > 0.0f) slot[number] = s;
                if (sum > target) break;
            }
        }
    }

    double log_probability(int number, int slot) const {
        const NearNodes &lane = lanes[number];
        return double(lane.logits[slot] - lane.top) * LN2 - std::log(double(lane.total));
    }

    // Gradient of weight * log p(chosen) by the context, as lanes. That by the
    // pointer products takes the place of the chances.
    void context_gradient(const int32_t (&chosen)[TILE], const float (&weight)[TILE],
                          float *gradient) {
        alignas(64) float rows[TILE][D] = {};
        const float factor = Clipping(decoder_).factor();
        for (int number = 0; number < TILE; ++number) {
            if (weight[number] == 0.0f) continue;
            NearNodes &lane = lanes[number];
            const float scale = weight[number] * factor;
            const float share = scale / (lane.total > TINY ? lane.total : TINY);
            for (int s = 0; s < lane.count; ++s)
                lane.chances[s] = -(lane.chances[s] * share) * lane.slopes[s];
            lane.chances[chosen[number]] += scale * lane.slopes[chosen[number]];
            for (int s = 0; s < lane.count; ++s)
                add_scaled<D>(lane.chances[s], nodes_->pointers + int64_t(lane.ids[s]) * D,
                              rows[number]);
        }
        rows_to_lanes<D>(rows[0], D, gradient);
    }

    // Adds the gradient of weight * log p(chosen) by the pointer's strengths; before
    // `context_gradient`, which needs the room.
    void add_pointer_locality(const int32_t (&chosen)[TILE], const float (&weight)[TILE],
                              float *gradient) const {
        const Clipping clipping(decoder_);
        for (int number = 0; number < TILE; ++number) {
            if (weight[number] == 0.0f) continue;
            const NearNodes &lane = lanes[number];
            const float scale = weight[number] * clipping.factor();
            const float share = scale / (lane.total > TINY ? lane.total : TINY);
            for (int s = 0; s < lane.count; ++s) {
                const float one = s == chosen[number] ? scale : 0.0f;
                const float own =
                    (one - lane.chances[s] * share) * clipping.own_share(fill(lane.slopes[s]))[0];
                gradient[0] += own * lane.distances[s];
                gradient[1] += own * lane.log_distances[s];
            }
        }
    }

private:
    using Base::decoder_, Base::instance_;

    void measure(NearNodes &lane) {
        const float *coords = decoder_.coords + 2 * instance_ * decoder_.nodes;
        const float inverse = Base::inverse_unit(lane.node);
        const float *here = coords + 2 * (lane.node < 0 ? 0 : lane.node);
        const bool has_depot = decoder_.problem != Problem::tsp;
        for (int s = 0; s < lane.count; s += LANES) {
            Vector square, unit;
            for (int i = 0; i < LANES; ++i) {
                const int32_t node = lane.ids[s + i];
                const float dx = here[0] - coords[2 * node], dy = here[1] - coords[2 * node + 1];
                square[i] = dx * dx + dy * dy;
                unit[i] = has_depot && node == 0 ? 0.0f : inverse;
            }
            const Vector d = square_root(square) * unit;
            store(lane.distances + s, d);
            store(lane.log_distances + s, log_of(d));
        }
    }

    void attend(int number) {
        NearNodes &lane = lanes[number];
        alignas(64) float query[D], glimpse[D];
        heads_inside<D>(query_rows[number], query);
        // Scores to the base of two: exp2 then needs no further factor.
        const float scale = LOG2E / __builtin_sqrtf(float(HEAD));
        for (float &q : query) q *= scale;
        Vector top[PAIR / LANES], sum[PAIR / LANES];
        for (int p = 0; p < PAIR / LANES; ++p) {
            top[p] = fill(LOWEST);
            sum[p] = Vector{};
        }
        alignas(64) float strengths[MEASURES][PAIR];
        if (decoder_.glimpse_locality)
            for (int h = 0; h < PAIR; ++h)
                for (int i = 0; i < MEASURES; ++i)
                    strengths[i][h] = decoder_.glimpse_locality[h % HEADS * MEASURES + i] * LOG2E;
        for (int s = 0; s < lane.count; ++s) {
            float *scores = lane.weights + s * PAIR;
            head_dots<D>(nodes_->keys + int64_t(lane.ids[s]) * D, query, scores);
            if (decoder_.glimpse_locality) {
                const float d = lane.distances[s], log_d = lane.log_distances[s];
                for (int h = 0; h < PAIR; ++h)
                    scores[h] -= strengths[0][h] * d + strengths[1][h] * log_d;
            }
            for (int p = 0; p < PAIR / LANES; ++p) top[p] = max(top[p], load(scores + p * LANES));
        }
        for (int s = 0; s < lane.count; ++s)
            for (int p = 0; p < PAIR / LANES; ++p) {
                float *at = lane.weights + s * PAIR + p * LANES;
                const Vector weight = exp2(load(at) - top[p]);
                sum[p] += weight;
                store(at, weight);
            }
        for (int p = 0; p < PAIR / LANES; ++p)
            store(lane.inverse + p * LANES, 1.0f / max(sum[p], fill(TINY)));
        sum_by_head<D>(nodes_->values, lane.ids, lane.count, lane.weights, glimpse);
        for (int k = 0; k < D; ++k) glimpse[k] *= lane.inverse[k % HEADS];
        heads_outside<D>(glimpse, glimpse_rows[number]);
    }

    template <Bias BIAS>
    void score(int number) {
        NearNodes &lane = lanes[number];
        const Clipping clipping(decoder_);
        const bool somewhere = lane.node >= 0;
        const Vector here = fill(somewhere);
        const float *coords = decoder_.coords + 2 * instance_ * decoder_.nodes;
        const float here_x = somewhere ? coords[2 * lane.node] : 0.0f;
        const float here_y = somewhere ? coords[2 * lane.node + 1] : 0.0f;
        for (int s = 0; s < lane.count; s += LANES) {
            const int32_t *ids = lane.ids + s;
            Vector bias, square{};
            for (int i = 0; i < LANES; ++i) {
                bias[i] = nodes_->pointer_bias[ids[i]];
                if constexpr (BIAS != Bias::none) {
                    const float dx = here_x - coords[2 * ids[i]];
                    const float dy = here_y - coords[2 * ids[i] + 1];
                    square[i] = dx * dx + dy * dy;
                }
            }
            const Vector product =
                dots_of_nodes<D>(nodes_->pointers, ids, context_rows[number]) + bias;
            Vector d{}, log_d{};
            if (decoder_.pointer_locality) {
                d = load(lane.distances + s);
                log_d = load(lane.log_distances + s);
            }
            const Logit logit = clipping.of<BIAS>(product, square, here, d, log_d);
            store(lane.logits + s, logit.value);
            store(lane.slopes + s, logit.slope);
        }
        edges_.each_from(lane.node, [&](int32_t target, float bonus) {
            const int slot = lane.slot_of(target);
            if (slot < lane.count && lane.ids[slot] == target) lane.logits[slot] += bonus;
        });
        lane.top = LOWEST;
        for (int s = 0; s < lane.count; ++s) lane.top = std::max(lane.top, lane.logits[s]);
        for (int s = 0; s < lane.count; s += LANES)
            store(lane.chances + s, exp2(load(lane.logits + s) - lane.top));
        lane.total = 0.0f;
        for (int s = 0; s < lane.count; ++s) lane.total += lane.chances[s];
    }

    const SparseNodes<D> *nodes_ = nullptr;
    Edges edges_;
};

// A tile of rollouts, each with the nearest nodes of where it is.
template <int D>
class SparseSampler {
public:
    explicit SparseSampler(const Decoder &decoder) : step(decoder), candidates_(decoder) {}

    SparseStep<D> step;

    void use(const SparseNodes<D> &nodes, int64_t instance) {
        step.use(nodes, instance);
        candidates_.use(instance, nodes.near);
    }

    void begin(const Rules &rules, int lane) { candidates_.open_all(open_[lane], rules); }
    void begin_step(const Rules &, Bits) { step.clear(); }

    bool set_lane(int lane, const Rules &rules, const State &state, int32_t given) {
        if (given >= 0) return candidates_.allows(rules, state, open_[lane], given);
        step.set_lane(lane, state, rules.scalar(state),
                      candidates_.find(rules, state, open_[lane], -1));
        return true;
    }

    bool allows(int, int32_t node) const { return node >= 0; }
    void visit(int lane, int32_t node) { open_[lane].visit(node); }

private:
    Candidates candidates_;
    OpenNodes open_[TILE];
};

}  // namespace metasage::METASAGE_LEVEL
