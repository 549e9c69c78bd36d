// Rollouts of many instances, with the gradient of log p by the adapter.

#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "common/random.h"
#include "rollout/adapter.h"
#include "rollout/ordered_sum.h"
#include "rollout/subnormals.h"

namespace metasage::METASAGE_LEVEL {

// `Kind` says which nodes a step looks at: all, or the nearest.
template <int D, class Kind>
class RolloutRun {
public:
    RolloutRun(const Decoder &decoder, RolloutRequest &rollouts)
        : decoder_(decoder),
          rollouts_(rollouts),
          block_(Kind::block(decoder.problem)),
          blocks_((rollouts.sampled + block_ - 1) / block_),
          together_(Kind::together(blocks_ * decoder.instances, decoder.threads)),
          tiles_((blocks_ + together_ - 1) / together_),
          most_steps_(decoder.most_steps()),
          most_rows_(Kind::most_rows(most_steps_)),
          rows_apart_(most_rows_ / 8 * 8 + 9),
          learning_(rollouts.plain_sum != nullptr) {}

    void run() {
        // Packed nodes of so many instances at a time bound the memory.
        const int64_t bytes = NodeData::bytes(decoder_);
        const int64_t most = bytes < PACKED_BYTES ? PACKED_BYTES / bytes : 1;
        for (int64_t from = 0; from < decoder_.instances; from += most) {
            const int64_t left = decoder_.instances - from;
            run_instances(from, left < most ? left : most);
        }
        rollouts_.finished = !stop_;
    }

private:
    using NodeData = typename Kind::NodeData;
    using Sampler = typename Kind::Sampler;
    using Replayer = typename Kind::Replayer;
    static constexpr int64_t PACKED_BYTES = int64_t(256) << 20;

    // What a thread needs, made once.
    struct Worker {
        Worker(const Decoder &decoder, bool learning, int64_t rows_apart)
            : sampler(decoder), replay(decoder, false), rows(learning ? TILE * rows_apart : 0) {}
        Sampler sampler;
        Replayer replay;
        AdapterRows<D> rows;
        // Of a lane: gradients of the rows that there was no room for.
        std::unique_ptr<Buffer<float>> earlier[TILE];
        alignas(64) float gradient[D * TILE];
    };

    void run_instances(int64_t from, int64_t count) {
        std::unique_ptr<NodeData[]> nodes(new NodeData[count]);
        std::unique_ptr<OrderedSum[]> sums(new OrderedSum[count]);
        const int64_t each = tiles_ + rollouts_.num_forced;
#pragma omp parallel num_threads(decoder_.threads)
        {
            const NoSubnormals setting;
#pragma omp for schedule(dynamic, 1)
            for (int64_t i = 0; i < count; ++i) {
                nodes[i].pack(decoder_, from + i);
                if (learning_) sums[i].start(blocks_ + rollouts_.num_forced);
            }
            const std::unique_ptr<Worker> worker(new Worker(decoder_, learning_, rows_apart_));
#pragma omp for schedule(dynamic, 1)
            for (int64_t task = 0; task < count * each; ++task) {
                if (stop_) continue;
                const int64_t i = task / each, part = task % each, instance = from + i;
                const int64_t size = decoder_.eta_size(), at = instance * size;
                if (part < tiles_) {
                    const int64_t first = part * together_;
                    std::vector<Sum> found = new_sums(std::min(together_, blocks_ - first));
                    sample(*worker, nodes[i], instance, first, found);
                    for (size_t b = 0; learning_ && !stop_ && b < found.size(); ++b)
                        sums[i].add(first + int64_t(b),
                                    {std::move(found[b]), size, rollouts_.plain_sum + at,
                                     rollouts_.weighted_sum + at});
                } else {
                    const int64_t index = part - tiles_;
                    std::vector<Sum> found = new_sums(1);
                    force(*worker, nodes[i], instance, index, found[0].get());
                    double *forced = rollouts_.forced_sum ? rollouts_.forced_sum + at : nullptr;
                    if (learning_ && !stop_)
                        sums[i].add(blocks_ + index, {std::move(found[0]), size, forced, nullptr});
                }
            }
        }
    }

    using Sum = std::unique_ptr<Buffer<float>>;

    // Sums of gradients to be filled, or nulls where nothing is learned.
    std::vector<Sum> new_sums(int64_t count) const {
        std::vector<Sum> sums(count);
        if (learning_)
            for (Sum &sum : sums) {
                sum.reset(new Buffer<float>(2 * decoder_.eta_size()));
                sum->clear();
            }
        return sums;
    }

    struct Rollout {
        int64_t rollout = -1, rows = 0;
        State state;
        double log_likelihood = 0.0;
        int32_t given = -1;

        bool active() const { return rollout >= 0; }
    };

    // Runs some blocks of rollouts of an instance, from one on; each has its own sum.
    void sample(Worker &worker, const NodeData &nodes, int64_t instance, int64_t first_block,
                std::vector<Sum> &sums) {
        const Rules rules(decoder_, instance);
        int64_t next = first_block * block_;
        const int64_t end = std::min(next + int64_t(sums.size()) * block_, rollouts_.sampled);
        Sampler &sampler = worker.sampler;
        auto &step = sampler.step;
        sampler.use(nodes, instance);
        Rollout lanes[TILE];
        Bits active = 0;

        const auto begin_next = [&](int number) {
            Rollout &lane = lanes[number];
            lane = Rollout{};
            if (next == end) {
                active &= ~(Bits(1) << number);
                return;
            }
            lane.rollout = next++;
            lane.state = rules.start();
            active |= Bits(1) << number;
            sampler.begin(rules, number);
        };
        for (int number = 0; number < TILE; ++number) begin_next(number);

        while (active != 0) {
            if (late()) return;
            bool any_free;
            if (!prepare(sampler, rules, instance, lanes, active, any_free)) return;
            alignas(64) int32_t slot[TILE];
            if (any_free) {
                step.run();
                choose(step, instance, lanes, slot);
            }
            int64_t row[TILE];
            alignas(64) float weight[TILE] = {};
            for (int number = 0; number < TILE; ++number) {
                Rollout &lane = lanes[number];
                row[number] = -1;
                if (!lane.active()) continue;
                int32_t node = lane.given;
                if (node < 0) {
                    node = step.node_of(slot[number], number);
                    if (!sampler.allows(number, node)) {
                        fail({Fault::undefined, instance, lane.rollout, lane.state.steps, node});
                        return;
                    }
                    lane.log_likelihood += step.log_probability(number, slot[number]);
                    weight[number] = 1.0f;
                    row[number] = number * rows_apart_ + lane.rows++;
                }
                actions_of(instance, lane.rollout)[lane.state.steps] = node;
                sampler.visit(number, node);
                rules.advance(lane.state, node);
            }
            if (learning_ && any_free) {
                step.context_gradient(slot, weight, worker.gradient);
                worker.rows.collect(step, worker.gradient, row);
            }
            for (int number = 0; number < TILE; ++number) {
                Rollout &lane = lanes[number];
                if (!lane.active()) continue;
                if (learning_ && lane.rows == most_rows_ && !lane.state.done)
                    make_room(worker, number, lane);
                if (!lane.state.done) continue;
                finish(instance, lane.rollout, lane.state, lane.log_likelihood);
                if (learning_)
                    add_gradient(worker, number, lane,
                                 float(lane.state.cost - rollouts_.centre[instance]),
                                 *sums[lane.rollout / block_ - first_block]);
                begin_next(number);
            }
        }
    }

    // Multiplies a lane's rows out before its cost is known.
    void make_room(Worker &worker, int number, Rollout &lane) const {
        std::unique_ptr<Buffer<float>> &earlier = worker.earlier[number];
        if (!earlier) {
            earlier.reset(new Buffer<float>(decoder_.eta_size()));
            earlier->clear();
        }
        worker.rows.add_to(*earlier, 0.0f, nullptr, number * rows_apart_, lane.rows);
        lane.rows = 0;
    }

    void add_gradient(Worker &worker, int number, const Rollout &lane, float weight,
                      float *sum) const {
        const int64_t size = decoder_.eta_size();
        worker.rows.add_to(sum, weight, sum + size, number * rows_apart_, lane.rows);
        const std::unique_ptr<Buffer<float>> earlier = std::move(worker.earlier[number]);
        if (!earlier) return;
        const float *numbers = *earlier;
        for (int64_t i = 0; i < size; ++i) {
            sum[i] += numbers[i];
            sum[size + i] += weight * numbers[i];
        }
    }

    // Sets the masks and queries of a step. Returns false if a forced start is not allowed.
    bool prepare(Sampler &sampler, const Rules &rules, int64_t instance, Rollout (&lanes)[TILE],
                 Bits active, bool &any_free) {
        sampler.begin_step(rules, active);
        any_free = false;
        for (int number = 0; number < TILE; ++number) {
            Rollout &lane = lanes[number];
            if (!lane.active()) continue;
            lane.given = given_to(instance, lane.rollout, lane.state.steps);
            any_free = any_free || lane.given < 0;
            if (!sampler.set_lane(number, rules, lane.state, lane.given)) {
                fail({Fault::forbidden, instance, lane.rollout, lane.state.steps, lane.given});
                return false;
            }
        }
        return true;
    }

    template <class Step>
    void choose(const Step &step, int64_t instance, const Rollout (&lanes)[TILE],
                int32_t (&slot)[TILE]) const {
        if (rollouts_.greedy) {
            step.choose_greedily(slot);
            return;
        }
        alignas(64) float drawn[TILE];
        for (int number = 0; number < TILE; ++number)
            drawn[number] =
                uniform(rollouts_.seeds[instance], rollouts_.offset + lanes[number].rollout,
                        lanes[number].state.steps);
        step.choose_by_chance(drawn, slot);
    }

    // Evaluates a rollout whose actions are given.
    void force(Worker &worker, const NodeData &nodes, int64_t instance, int64_t index,
               Buffer<float> *sum) {
        const int64_t at = instance * rollouts_.num_forced + index;
        const int32_t *actions = rollouts_.forced + at * rollouts_.forced_stride;
        Replayer &replay = worker.replay;
        int64_t rows = 0;
        Fault fault;
        const Rules rules(decoder_, instance);
        const bool fine =
            replay.run(nodes, rules, instance, actions, rollouts_.forced_steps,
                       rollouts_.forced_first_scored, fault, [&] {
                           if (late()) return false;
                           if (!learning_) return true;
                           if (rows + TILE > TILE * rows_apart_) {
                               worker.rows.add_to(*sum, 0.0f, nullptr, 0, rows);
                               rows = 0;
                           }
                           int64_t row[TILE];
                           alignas(64) float weight[TILE];
                           for (int lane = 0; lane < TILE; ++lane) {
                               weight[lane] = lane < replay.lanes;
                               row[lane] = lane < replay.lanes ? rows++ : -1;
                           }
                           replay.step.context_gradient(replay.chosen, weight, worker.gradient);
                           worker.rows.collect(replay.step, worker.gradient, row);
                           return true;
                       });
        if (stop_) return;
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
    RolloutRequest &rollouts_;
    // Rollouts whose gradients are summed up, how many such blocks there are, and how many
    // of them share a tile, which changes nothing but the speed.
    const int64_t block_, blocks_, together_, tiles_, most_steps_;
    // Rows kept for a lane, and from one lane's to the next: not a multiple of 8, or
    // all lanes' rows would meet in the same sets of the cache.
    const int64_t most_rows_, rows_apart_;
    const bool learning_;
    std::atomic<bool> stop_{false};
};

}  // namespace metasage::METASAGE_LEVEL
