// Rollouts of many instances, with the gradient of log p by the adapter.

#pragma once

#include <atomic>
#include <memory>

#include "adapter.h"
#include "ordered_sum.h"
#include "random.h"
#include "replay.h"

namespace metasage::METASAGE_LEVEL {

template <int D>
class RolloutRun {
public:
    RolloutRun(const Decoder &decoder, Rollouts &rollouts)
        : decoder_(decoder), rollouts_(rollouts),
          block_(ends_early(decoder.problem) ? BLOCK_OF_ROLLOUTS : TILE),
          blocks_((rollouts.sampled + block_ - 1) / block_), most_steps_(decoder.most_steps()),
          rows_apart_(most_steps_ / 8 * 8 + 9),
          learning_(rollouts.plain_sum != nullptr) {}

    void run() {
        // Packed nodes of so many instances at a time bound the memory.
        const int64_t bytes = decoder_.nodes * D * 3 * int64_t(sizeof(float));
        const int64_t most = bytes < PACKED_BYTES ? PACKED_BYTES / bytes : 1;
        for (int64_t from = 0; from < decoder_.instances; from += most) {
            const int64_t left = decoder_.instances - from;
            run_instances(from, left < most ? left : most);
        }
        rollouts_.finished = !stop_;
    }

private:
    static constexpr int64_t PACKED_BYTES = int64_t(256) << 20;

    // What a thread needs, made once.
    struct Worker {
        Worker(const Decoder &decoder, bool learning, int64_t rows_apart)
            : step(decoder, false), replay(decoder, false), visited(decoder.nodes),
              rows(learning ? TILE * rows_apart : 0) {}
        Step<D> step;
        Replay<D> replay;
        Buffer<Bits> visited;
        AdapterRows<D> rows;
        alignas(64) float gradient[D * TILE];
    };

    void run_instances(int64_t from, int64_t count) {
        std::unique_ptr<Nodes<D>[]> nodes(new Nodes<D>[count]);
        std::unique_ptr<OrderedSum[]> sums(new OrderedSum[count]);
        const int64_t each = blocks_ + rollouts_.num_forced;
#pragma omp parallel num_threads(decoder_.threads)
        {
#pragma omp for schedule(dynamic, 1)
            for (int64_t i = 0; i < count; ++i) {
                nodes[i].pack(decoder_, from + i);
                if (learning_) sums[i].start(each);
            }
            const std::unique_ptr<Worker> worker(new Worker(decoder_, learning_, rows_apart_));
#pragma omp for schedule(dynamic, 1)
            for (int64_t task = 0; task < count * each; ++task) {
                if (stop_) continue;
                const int64_t i = task / each, part = task % each, instance = from + i;
                std::unique_ptr<Buffer<float>> sum;
                if (learning_) {
                    sum.reset(new Buffer<float>(2 * decoder_.eta_size()));
                    sum->clear();
                }
                if (part < blocks_)
                    sample(*worker, nodes[i], instance, part * block_, sum.get());
                else
                    force(*worker, nodes[i], instance, part - blocks_, sum.get());
                if (!learning_ || stop_) continue;
                const int64_t size = decoder_.eta_size(), at = instance * size;
                double *forced = rollouts_.forced_sum ? rollouts_.forced_sum + at : nullptr;
                if (part < blocks_)
                    sums[i].add(part, {std::move(sum), size, rollouts_.plain_sum + at,
                                       rollouts_.weighted_sum + at});
                else
                    sums[i].add(part, {std::move(sum), size, forced, nullptr});
            }
        }
    }

    // Whether tours end at different times: lanes then take up another rollout.
    static bool ends_early(Problem problem) {
        return problem == Problem::pctsp || problem == Problem::op;
    }

    struct Lane {
        int64_t rollout = -1, rows = 0;
        State state;
        double log_likelihood = 0.0;
        int32_t given = -1;

        bool active() const { return rollout >= 0; }
    };

    // Runs a block of rollouts of an instance, the first of which is `next`.
    void sample(Worker &worker, const Nodes<D> &nodes, int64_t instance, int64_t next,
                Buffer<float> *sum) {
        const Rules rules(decoder_, instance);
        const int64_t end = next + block_ < rollouts_.sampled ? next + block_ : rollouts_.sampled;
        Step<D> &step = worker.step;
        step.use(nodes, instance);
        Lane lanes[TILE];
        Bits active = 0;
        for (int i = 0; i < nodes.count; ++i) worker.visited[i] = 0;
        std::memset(step.allowed, 0, nodes.padded * sizeof(Bits));

        const auto begin_next = [&](int number) {
            Lane &lane = lanes[number];
            lane = Lane{};
            if (next == end) {
                active &= ~(Bits(1) << number);
                return;
            }
            lane.rollout = next++;
            lane.state = rules.start();
            active |= Bits(1) << number;
            for (int i = 0; i < nodes.count; ++i) worker.visited[i] &= ~(Bits(1) << number);
        };
        for (int number = 0; number < TILE; ++number) begin_next(number);

        while (active != 0) {
            if (late()) return;
            bool any_free;
            if (!prepare(worker, nodes, rules, instance, lanes, active, any_free)) return;
            alignas(64) int32_t slot[TILE];
            if (any_free) {
                step.run();
                choose(step, instance, lanes, slot);
            }
            int64_t row[TILE];
            alignas(64) float weight[TILE] = {};
            for (int number = 0; number < TILE; ++number) {
                Lane &lane = lanes[number];
                row[number] = -1;
                if (!lane.active()) continue;
                int32_t node = lane.given;
                if (node < 0) {
                    node = step.node_of(slot[number]);
                    if (!(step.allowed[node] >> number & 1)) {
                        fail({Fault::undefined, instance, lane.rollout, lane.state.steps, node});
                        return;
                    }
                    lane.log_likelihood += step.log_probability(number, slot[number]);
                    weight[number] = 1.0f;
                    row[number] = number * rows_apart_ + lane.rows++;
                }
                actions_of(instance, lane.rollout)[lane.state.steps] = node;
                worker.visited[node] |= Bits(1) << number;
                rules.advance(lane.state, node);
            }
            if (learning_ && any_free) {
                add_context_gradient(step, slot, weight, worker.gradient);
                worker.rows.collect(step, worker.gradient, row);
            }
            for (int number = 0; number < TILE; ++number) {
                const Lane &lane = lanes[number];
                if (!lane.active() || !lane.state.done) continue;
                finish(instance, lane.rollout, lane.state, lane.log_likelihood);
                if (learning_)
                    worker.rows.add_to(*sum, float(lane.state.cost - rollouts_.centre[instance]),
                                       *sum + decoder_.eta_size(), number * rows_apart_, lane.rows);
                begin_next(number);
            }
        }
    }

    // Sets the masks and queries of a step. Returns false if a forced start is not allowed.
    bool prepare(Worker &worker, const Nodes<D> &nodes, const Rules &rules, int64_t instance,
                 Lane (&lanes)[TILE], Bits active, bool &any_free) {
        Step<D> &step = worker.step;
        for (int i = 0; i < nodes.count; ++i) step.allowed[i] = active & ~worker.visited[i];
        if (rules.has_depot()) step.allowed[0] = 0;
        any_free = false;
        for (int number = 0; number < TILE; ++number) {
            Lane &lane = lanes[number];
            if (!lane.active()) continue;
            rules.forbid(lane.state, nullptr, nodes.demand, rules.has_depot(), nodes.count, number,
                         step.allowed);
            if (rules.has_depot() && rules.depot_allowed(lane.state))
                step.allowed[0] |= Bits(1) << number;
            lane.given = given_to(instance, lane.rollout, lane.state.steps);
            if (lane.given < 0) {
                any_free = true;
                step.set_lane(number, lane.state, rules.scalar(lane.state));
            } else if (!(step.allowed[lane.given] >> number & 1)) {
                fail({Fault::forbidden, instance, lane.rollout, lane.state.steps, lane.given});
                return false;
            }
        }
        return true;
    }

    void choose(const Step<D> &step, int64_t instance, const Lane (&lanes)[TILE],
                int32_t (&slot)[TILE]) const {
        if (rollouts_.greedy) {
            step.choose_greedily(slot);
            return;
        }
        alignas(64) float drawn[TILE];
        for (int number = 0; number < TILE; ++number)
            drawn[number] = uniform(rollouts_.seeds[instance],
                                    rollouts_.offset + lanes[number].rollout,
                                    lanes[number].state.steps);
        step.choose_by_chance(drawn, slot);
    }

    // Evaluates a rollout whose actions are given.
    void force(Worker &worker, const Nodes<D> &nodes, int64_t instance, int64_t index,
               Buffer<float> *sum) {
        const int64_t at = instance * rollouts_.num_forced + index;
        const int32_t *actions = rollouts_.forced + at * rollouts_.forced_stride;
        Replay<D> &replay = worker.replay;
        int64_t rows = 0;
        Fault fault;
        const Rules rules(decoder_, instance);
        const bool fine = replay.run(
            nodes, rules, instance, actions, rollouts_.forced_steps, rollouts_.forced_first_scored,
            fault, [&] {
                if (!learning_) return;
                int64_t row[TILE];
                alignas(64) float weight[TILE];
                for (int lane = 0; lane < TILE; ++lane) {
                    weight[lane] = lane < replay.lanes;
                    row[lane] = lane < replay.lanes ? rows++ : -1;
                }
                add_context_gradient(replay.step, replay.chosen, weight, worker.gradient);
                worker.rows.collect(replay.step, worker.gradient, row);
            });
        if (!fine) {
            fault.rollout = rollouts_.sampled + index;
            fail(fault);
            return;
        }
        std::memcpy(actions_of(instance, rollouts_.sampled + index), actions,
                    replay.end.steps * sizeof(int32_t));
        finish(instance, rollouts_.sampled + index, replay.end, replay.log_likelihood);
        if (learning_) worker.rows.add_to(*sum, 0.0f, nullptr, 0, rows);
    }

    // Gradient of log p by what meets the pointer keys.
    static void add_context_gradient(Step<D> &step, const int32_t (&slot)[TILE],
                                     const float (&weight)[TILE], float *gradient) {
        const float *scores = step.score_gradient(slot, weight);
        std::memset(gradient, 0, D * TILE * sizeof(float));
        add_sums<D, D>(step.nodes().pointers, step.groups(), scores, gradient);
    }

    // The node that a rollout has to go to at a step, or -1.
    int32_t given_to(int64_t instance, int64_t rollout, int64_t step) const {
        if (step >= rollouts_.given_steps) return -1;
        const int64_t row = instance * rollouts_.sampled + rollout;
        return rollouts_.starts[row * rollouts_.given_steps + step];
    }

    int32_t *actions_of(int64_t instance, int64_t rollout) const {
        return rollouts_.actions + (instance * rollouts_.total() + rollout) * most_steps_;
    }

    void finish(int64_t instance, int64_t rollout, const State &state, double log_likelihood) {
        const int64_t at = instance * rollouts_.total() + rollout;
        rollouts_.steps[at] = state.steps;
        rollouts_.cost[at] = state.cost;
        rollouts_.log_likelihood[at] = log_likelihood;
    }

    bool late() {
        if (!stop_ && rollouts_.patience.is_over()) stop_ = true;
        return stop_;
    }

    void fail(const Fault &fault) {
#pragma omp critical(metasage_fault)
        rollouts_.fault = fault;
        stop_ = true;
    }

    const Decoder &decoder_;
    Rollouts &rollouts_;
    const int64_t block_, blocks_, most_steps_;
    // Rows kept for a lane: not a multiple of 8, or all lanes' rows would meet in
    // the same sets of the cache.
    const int64_t rows_apart_;
    const bool learning_;
    std::atomic<bool> stop_{false};
};

}  // namespace metasage::METASAGE_LEVEL
