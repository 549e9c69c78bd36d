// Attention of all nodes of an instance to each other, forth and back.

#pragma once

#include <memory>
#include <vector>

#include "rollout/attention.h"
#include "rollout/subnormals.h"

namespace metasage::METASAGE_LEVEL {

template <int D>
class SelfAttentionRun {
public:
    explicit SelfAttentionRun(const SelfAttention &task)
        : task_(task), tiles_((task.nodes + TILE - 1) / TILE) {}

    void forward() {
#pragma omp parallel num_threads(task_.threads)
        {
            const NoSubnormals setting;
            const std::unique_ptr<Worker> worker(new Worker(task_, false));
#pragma omp for schedule(static)
            for (int64_t at = 0; at < task_.instances * tiles_; ++at) {
                worker->use(at / tiles_);
                const int lanes = worker->attend(at % tiles_);
                alignas(64) float rows[TILE][D];
                lanes_to_tile_rows<D>(worker->glimpse, rows[0]);
                const int64_t first = at / tiles_ * task_.nodes + at % tiles_ * TILE;
                std::memcpy(task_.glimpse + first * D, rows, lanes * D * sizeof(float));
            }
        }
    }

    // What is added in which order depends on the sizes alone, never on threads.
    void backward() {
        const int64_t parts = task_.instances >= ENOUGH_INSTANCES ? 1 : PARTS;
        const int64_t tasks = task_.instances * parts;
        std::vector<std::unique_ptr<Sums>> sums(tasks);
#pragma omp parallel num_threads(task_.threads)
        {
            const NoSubnormals setting;
            const std::unique_ptr<Worker> worker(new Worker(task_, true));
#pragma omp for schedule(dynamic, 1)
            for (int64_t at = 0; at < tasks; ++at) {
                const int64_t part = at % parts;
                worker->use(at / parts);
                sums[at].reset(new Sums(worker->nodes.padded));
                for (int64_t tile = part * tiles_ / parts; tile < (part + 1) * tiles_ / parts;
                     ++tile)
                    worker->go_back(tile, *sums[at]);
                // Whole instances need not wait for others, and then hold no memory.
                if (parts == 1) hand_out(at, *sums[at]);
            }
        }
        for (int64_t at = 0; at < tasks; ++at) {
            if (parts > 1 && at % parts > 0) sums[at - at % parts]->add(*sums[at]);
            if (parts > 1 && at % parts == parts - 1) hand_out(at / parts, *sums[at - at % parts]);
        }
        if (task_.strengths == nullptr) return;
        for (int64_t at = 0; at < tasks; at += parts)
            for (int i = 0; i < HEADS * MEASURES; ++i)
                task_.strengths_gradient[i] += sums[at]->strengths[i];
    }

private:
    static constexpr int64_t ENOUGH_INSTANCES = 8, PARTS = 4;

    struct Sums {
        explicit Sums(int64_t padded) : keys(padded * D), values(padded * D) {
            keys.clear();
            values.clear();
        }

        void add(const Sums &other) {
            for (int64_t i = 0; i < keys.size(); ++i) {
                keys[i] += other.keys[i];
                values[i] += other.values[i];
            }
            for (int i = 0; i < HEADS * MEASURES; ++i) strengths[i] += other.strengths[i];
        }

        Buffer<float> keys, values;
        float strengths[HEADS * MEASURES] = {};
    };

    // What a thread needs, made once.
    struct Worker {
        Worker(const SelfAttention &given, bool learning)
            : task(given),
              attention(padded(given), learning, given.strengths),
              attention_gradient(learning ? padded(given) : 0),
              allowed(padded(given)),
              groups(padded(given) / GROUP) {
            if (task.strengths != nullptr) distances.resize(padded(given));
            allowed.clear();
            for (int64_t i = 0; i < task.nodes; ++i) allowed[i] = ~Bits(0);
            for (int64_t g = 0; g < groups.size(); ++g) groups[g] = int32_t(g);
            nodes.depot = task.has_depot ? 0 : -1;
        }

        void use(int64_t wanted) {
            if (instance == wanted) return;
            instance = wanted;
            nodes.resize(int(task.nodes));
            for (int64_t i = 0; i < task.nodes; ++i) {
                const float *row = task.query_key_value + (instance * task.nodes + i) * 3 * D;
                nodes.set(int(i), row + D, row + 2 * D, place(i));
            }
        }

        // Returns the number of nodes in the tile.
        int attend(int64_t tile) {
            const int64_t left = task.nodes - tile * TILE;
            const int lanes = int(left < TILE ? left : TILE);
            for (int lane = 0; lane < TILE; ++lane) {
                // Lanes without a node repeat the last.
                const int64_t node = tile * TILE + (lane < lanes ? lane : lanes - 1);
                const int64_t row = instance * task.nodes + node;
                std::memcpy(query_rows[lane], task.query_key_value + row * 3 * D,
                            D * sizeof(float));
                const bool depot = task.has_depot && node == 0;
                here.set(lane, place(node), depot ? 0.0f : 1.0f / task.unit[instance]);
            }
            if (task.strengths != nullptr)
                distances.measure(nodes.x, nodes.y, nodes.depot, all(), here);
            attention.run(nodes, all(), allowed, query_rows, distances, glimpse);
            return lanes;
        }

        void go_back(int64_t tile, Sums &sums) {
            const int lanes = attend(tile);
            const int64_t first = instance * task.nodes + tile * TILE;
            alignas(64) float rows[TILE][D] = {};
            std::memcpy(rows, task.gradient + first * D, lanes * D * sizeof(float));
            rows_to_lanes<D>(rows[0], D, gradient);
            attention_gradient.add(nodes, all(), attention, query_rows, glimpse, distances,
                                   gradient, sums.keys, sums.values, sums.strengths, rows);
            for (int lane = 0; lane < lanes; ++lane)
                std::memcpy(task.query_key_value_gradient + (first + lane) * 3 * D, rows[lane],
                            D * sizeof(float));
        }

        static int64_t padded(const SelfAttention &task) {
            return (task.nodes + GROUP - 1) / GROUP * GROUP;
        }
        Groups all() const { return {groups, int(groups.size())}; }
        const float *place(int64_t node) const {
            return task.coords + 2 * (instance * task.nodes + node);
        }

        const SelfAttention &task;
        TileAttention<D> attention;
        AttentionGradient<D> attention_gradient;
        Distances distances;
        KeyValues<D> nodes;
        Buffer<Bits> allowed;
        Buffer<int32_t> groups;
        Whereabouts here;
        int64_t instance = -1;
        alignas(64) float query_rows[TILE][D], glimpse[D * TILE], gradient[D * TILE];
    };

    // Brings the gradients of an instance's keys and values to their places.
    void hand_out(int64_t instance, Sums &sums) const {
        const int64_t padded = sums.keys.size() / D;
        for (int64_t node = 0; node < task_.nodes; ++node) {
            float *row = task_.query_key_value_gradient + (instance * task_.nodes + node) * 3 * D;
            gather_heads<D>(sums.keys, padded, node, row + D);
            gather_heads<D>(sums.values, padded, node, row + 2 * D);
        }
        sums.keys.resize(0);
        sums.values.resize(0);
    }

    const SelfAttention &task_;
    const int64_t tiles_;
};

}  // namespace metasage::METASAGE_LEVEL
