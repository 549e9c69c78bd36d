// What the binding hands to the kernels: plain pointers and sizes.

#pragma once

#include <cstdint>

#include "common/patience.h"

namespace metasage {

constexpr int HEADS = 8;

// Rollouts that advance together.
constexpr int TILE = 32;

// Rollouts, counted by global index, that are summed up before their sum joins
// the others': so it does not depend on threads, nor on chunks of whole blocks.
constexpr int BLOCK_OF_ROLLOUTS = 2 * TILE;

enum class Problem { tsp, cvrp, pctsp, op };
enum class Bias { none, outside, inside };
enum class AdapterPlace { before, after };

// A residual layer of each instance, or of all: x + relu(x w1 + b1) w2 + b2, on the
// glimpse before the combining layer or on the query after it.
struct Adapter {
    const float *w1 = nullptr, *b1 = nullptr, *w2 = nullptr, *b2 = nullptr;
    AdapterPlace place = AdapterPlace::after;
    bool shared = false;

    bool given() const { return w1 != nullptr; }
};

// Instances, network outputs and settings; optional arrays are null.
struct Decoder {
    Problem problem;
    int64_t instances, nodes;
    int width;
    const float *keys, *values, *pointers;
    const float *query_last, *query_first, *query_scalar, *query_start;
    const float *combine_weight, *combine_bias;
    Adapter adapter;
    // Whether the query is added to the combined glimpse.
    bool skip;
    const float *coords;
    // Mean distance between neighbours in each instance, and strengths of the policy's
    // own preference for near nodes: of the glimpse, [head][2], and of the pointer, [2],
    // the latter inside or outside of tanh. See locality.h.
    const float *unit, *glimpse_locality, *pointer_locality;
    bool locality_inside;
    // Whole numbers below 2^24, or fractions of a capacity of 1.
    const float *demand, *capacity;
    const double *prize, *penalty, *lengths, *max_length, *scale;
    // Bonuses on the logits of edges, sorted by source; none if `edges` is 0.
    int64_t edges;
    const int32_t *edge_sources, *edge_targets;
    const float *edge_bonuses;
    Bias bias;
    float bias_strength, clip, temperature;
    // Nodes that a step looks at, the nearest ones; 0 for all.
    int64_t neighbours;
    int threads;

    int64_t eta_size() const { return 2 * int64_t(width) * width + 2 * width; }
    bool adapts_before() const { return adapter.given() && adapter.place == AdapterPlace::before; }
    bool adapts_after() const { return adapter.given() && adapter.place == AdapterPlace::after; }
    // Whether the combining layer is applied at each step, not to the pointer keys.
    bool combines() const { return skip || adapts_after(); }
    bool has_locality() const { return glimpse_locality || pointer_locality; }

    int64_t most_steps() const { return problem == Problem::cvrp ? 2 * nodes : nodes; }
};

// What ended a call early, and where.
struct Fault {
    enum Kind { none, forbidden, incomplete, undefined } kind = none;
    int64_t instance = 0, rollout = 0, step = 0, node = 0;
};

struct RolloutRequest {
    bool greedy;
    const uint64_t *seeds;
    int64_t sampled, offset;
    // The first steps of each rollout, -1 where they are free.
    const int32_t *starts;
    int64_t given_steps;
    const int32_t *forced;
    int64_t num_forced, forced_steps, forced_stride;
    bool forced_first_scored;
    // Sums of d log p / d eta: times centred cost, plain, and of forced rollouts.
    double *weighted_sum, *plain_sum, *forced_sum;
    const double *centre;
    Patience patience;

    // Results; `actions` has room for `most_steps` in each rollout.
    int32_t *actions, *steps;
    double *log_likelihood, *cost;
    bool finished = true;
    Fault fault;

    int64_t total() const { return sampled + num_forced; }
};

struct GradientRequest {
    const int32_t *actions, *steps;
    const float *weights;
    int64_t rollouts, max_steps;
    bool first_scored;
    Patience patience;
    bool finished = true;

    // Results; null where the decoder lacks the input.
    float *keys, *values, *pointers;
    float *query_last, *query_first, *query_scalar, *query_start;
    float *combine_weight, *combine_bias;
    float *w1, *b1, *w2, *b2;
    float *glimpse_locality, *pointer_locality;
    double *log_likelihood;
    Fault fault;
};

// Attention of nodes to each other forth, or back; rows of queries, keys and values
// stand side by side. `strengths`, [head][2], are those of a preference for near nodes,
// or null.
struct SelfAttention {
    int64_t instances, nodes, width;
    bool has_depot;
    const float *query_key_value, *coords, *unit, *strengths, *gradient;
    float *glimpse, *query_key_value_gradient, *strengths_gradient;
    int threads;
};

// Instance norm of embeddings forth, or back; `y` is what comes out.
struct Norm {
    int64_t instances, nodes, width;
    const float *x, *weight, *bias, *gradient;
    float *mean, *scale, *y, *weight_gradient, *bias_gradient;
    int threads;
};

// The same source compiled for one instruction set.
struct Kernel {
    const char *name;
    void (*rollout)(const Decoder &, RolloutRequest &);
    void (*backward)(const Decoder &, GradientRequest &);
    void (*norm_forward)(const Norm &);
    void (*norm_backward)(const Norm &);
    void (*attention_forward)(const SelfAttention &);
    void (*attention_backward)(const SelfAttention &);
};

// The kernel for this machine, or a lower one that METASAGE_SIMD names.
const Kernel &kernel();

}  // namespace metasage
