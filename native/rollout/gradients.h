// Runs the backward pass over all rollouts and hands out its gradients.

#pragma once

#include <atomic>

#include "rollout/backward.h"
#include "rollout/subnormals.h"

namespace metasage::METASAGE_LEVEL {

template <int D, class Kind>
class GradientRun {
public:
    GradientRun(const Decoder &decoder, GradientRequest &gradients)
        : decoder_(decoder), gradients_(gradients), shared_(decoder.instances * Sums::SHARED) {}

    // What is added in which order depends on the sizes alone, never on threads.
    void run() {
        if (decoder_.instances >= ENOUGH_INSTANCES)
            run_by_instance();
        else
            for (int64_t instance = 0; instance < decoder_.instances; ++instance)
                run_by_parts(instance);
        gradients_.finished = !stop_;
        if (gradients_.fault.kind == Fault::none) reduce_shared();
    }

private:
    using NodeData = typename Kind::NodeData;
    using Pass = BackwardPass<D, Kind>;
    using Sums = GradientSums<D>;
    static constexpr int64_t ENOUGH_INSTANCES = 8, PARTS = Kind::PARTS;

    void run_by_instance() {
#pragma omp parallel num_threads(decoder_.threads)
        {
            const NoSubnormals setting;
            const std::unique_ptr<Pass> pass(new Pass(decoder_));
            const std::unique_ptr<Sums> sums(new Sums(decoder_));
            NodeData nodes;
#pragma omp for schedule(dynamic, 1)
            for (int64_t instance = 0; instance < decoder_.instances; ++instance) {
                nodes.pack(decoder_, instance);
                sums->clear();
                add_rollouts(*pass, nodes, instance, 0, gradients_.rollouts, *sums);
                hand_out(instance, *sums);
            }
        }
    }

    void run_by_parts(int64_t instance) {
        NodeData nodes;
        nodes.pack(decoder_, instance);
        std::unique_ptr<Sums> parts[PARTS];
#pragma omp parallel num_threads(decoder_.threads)
        {
            const NoSubnormals setting;
            const std::unique_ptr<Pass> pass(new Pass(decoder_));
#pragma omp for schedule(dynamic, 1)
            for (int64_t part = 0; part < PARTS; ++part) {
                parts[part].reset(new Sums(decoder_));
                add_rollouts(*pass, nodes, instance, part * gradients_.rollouts / PARTS,
                             (part + 1) * gradients_.rollouts / PARTS, *parts[part]);
            }
        }
        for (int64_t part = 1; part < PARTS; ++part) parts[0]->add(*parts[part]);
        hand_out(instance, *parts[0]);
    }

    void add_rollouts(Pass &pass, const NodeData &nodes, int64_t instance, int64_t from, int64_t to,
                      Sums &sums) {
        const auto go_on = [&] {
            if (gradients_.patience.is_over()) stop_ = true;
            return !stop_;
        };
        for (int64_t rollout = from; rollout < to && go_on(); ++rollout) {
            const int64_t at = instance * gradients_.rollouts + rollout;
            const float weight = gradients_.weights[at];
            if (weight == 0.0f) continue;
            Fault fault;
            double &log_likelihood = gradients_.log_likelihood[at];
            if (pass.add(nodes, instance, gradients_.actions + at * gradients_.max_steps,
                         gradients_.steps[at], weight, gradients_.first_scored, sums,
                         log_likelihood, fault, go_on) ||
                stop_)
                continue;
            fault.rollout = rollout;
#pragma omp critical(metasage_fault)
            gradients_.fault = fault;
            stop_ = true;
        }
    }

    // Writes the gradients of one instance's own inputs, and keeps the others'.
    void hand_out(int64_t instance, Sums &sums) {
        const int64_t nodes = decoder_.nodes;
        for (int64_t node = 0; node < nodes; ++node) {
            const int64_t to = (instance * nodes + node) * D;
            Kind::StepGradient::read(sums, node, gradients_.keys + to, gradients_.values + to);
        }
        if (decoder_.combines())
            copy(gradients_.pointers + instance * nodes * D, sums.pointers, nodes * D);
        else
            unfold(instance, sums);
        copy(gradients_.query_last + instance * nodes * D, sums.query_last, nodes * D);
        if (gradients_.query_first)
            copy(gradients_.query_first + instance * nodes * D, sums.query_first, nodes * D);
        if (gradients_.query_start)
            copy(gradients_.query_start + instance * D, sums.shared + Sums::START, D);
        if (gradients_.w1 && !decoder_.adapter.shared) {
            const float *eta = sums.shared + Sums::ETA;
            copy(gradients_.w1 + instance * D * D, eta, D * D);
            copy(gradients_.b1 + instance * D, eta + D * D, D);
            copy(gradients_.w2 + instance * D * D, eta + D * D + D, D * D);
            copy(gradients_.b2 + instance * D, eta + 2 * D * D + D, D);
        }
        copy(shared_ + instance * Sums::SHARED, sums.shared, Sums::SHARED);
    }

    // The pass saw pointer keys times combining layer: passes the gradient on to both.
    void unfold(int64_t instance, Sums &sums) {
        const float *weight = decoder_.combine_weight, *bias = decoder_.combine_bias;
        float *weight_gradient = sums.shared + Sums::COMBINE;
        float *bias_gradient = sums.shared + Sums::COMBINE_BIAS;
        Buffer<float> transposed(D * D);
        for (int out = 0; out < D; ++out)
            for (int in = 0; in < D; ++in) transposed[in * D + out] = weight[out * D + in];
        add_products<D>(decoder_.pointers + instance * decoder_.nodes * D, sums.pointers,
                        decoder_.nodes, weight_gradient, 0.0f, nullptr);
        const int64_t first = instance * decoder_.nodes * D;
        multiply<D>(sums.pointers, transposed, decoder_.nodes, gradients_.pointers + first);
        if (bias == nullptr) return;
        for (int64_t node = 0; node < decoder_.nodes; ++node) {
            const float *pointer = decoder_.pointers + first + node * D;
            float *pointer_gradient = gradients_.pointers + first + node * D;
            float total = 0.0f;
            for (int lane = 0; lane < TILE; ++lane) total += sums.pointer_bias[node * TILE + lane];
            for (int k = 0; k < D; ++k) {
                pointer_gradient[k] += total * bias[k];
                bias_gradient[k] += total * pointer[k];
            }
        }
    }

    void reduce_shared() {
        const auto total = [&](float *to, int from, int size) {
            if (to == nullptr) return;
            for (int i = 0; i < size; ++i) to[i] = 0.0f;
            for (int64_t instance = 0; instance < decoder_.instances; ++instance)
                for (int i = 0; i < size; ++i) to[i] += shared_[instance * Sums::SHARED + from + i];
        };
        total(gradients_.query_scalar, Sums::SCALAR, D);
        total(gradients_.combine_weight, Sums::COMBINE, D * D);
        total(gradients_.combine_bias, Sums::COMBINE_BIAS, D);
        total(gradients_.glimpse_locality, Sums::GLIMPSE_LOCALITY, HEADS * MEASURES);
        total(gradients_.pointer_locality, Sums::POINTER_LOCALITY, MEASURES);
        if (!decoder_.adapter.shared) return;
        total(gradients_.w1, Sums::ETA, D * D);
        total(gradients_.b1, Sums::ETA + D * D, D);
        total(gradients_.w2, Sums::ETA + D * D + D, D * D);
        total(gradients_.b2, Sums::ETA + 2 * D * D + D, D);
    }

    static void copy(float *to, const float *from, int64_t size) {
        std::memcpy(to, from, size * sizeof(float));
    }

    const Decoder &decoder_;
    GradientRequest &gradients_;
    Buffer<float> shared_;
    std::atomic<bool> stop_{false};
};

}  // namespace metasage::METASAGE_LEVEL
