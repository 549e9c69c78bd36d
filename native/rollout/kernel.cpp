// Compiled once for each instruction set, with METASAGE_LEVEL as its name.

#include "rollout/encoder.h"
#include "rollout/gradients.h"
#include "rollout/norm.h"
#include "rollout/rollout.h"
#include "rollout/sampler.h"
#include "rollout/sparse_replay.h"

namespace metasage::METASAGE_LEVEL {

// Steps that look at all nodes, which the rollouts of a tile share.
template <int D>
struct Dense {
    using NodeData = Nodes<D>;
    using Sampler = DenseSampler<D>;
    using Replayer = Replay<D>;
    using StepGradient = DenseStepGradient<D>;

    // Where tours end at different times, lanes take up another rollout.
    static int64_t block(Problem problem) {
        return problem == Problem::pctsp || problem == Problem::op ? BLOCK_OF_ROLLOUTS : TILE;
    }
    static int64_t together(int64_t, int) { return 1; }
    static int64_t most_rows(int64_t most_steps) { return most_steps; }
    // Sums of gradients that rollouts of one instance are shared out to.
    static constexpr int64_t PARTS = 16;
};

// Steps that look at the nearest nodes, which each rollout gathers for itself.
template <int D>
struct Sparse {
    using NodeData = SparseNodes<D>;
    using Sampler = SparseSampler<D>;
    using Replayer = SparseReplay<D>;
    using StepGradient = SparseStepGradient<D>;

    // Few, as large instances have few rollouts and all threads shall work; where there
    // are many, they fill the tiles.
    static int64_t block(Problem) { return 8; }
    static int64_t together(int64_t blocks, int threads) {
        return std::clamp<int64_t>(blocks / (2 * threads), 1, TILE / 8);
    }
    // Rows of whole rollouts, or many sums, would be most of the memory.
    static int64_t most_rows(int64_t) { return 64; }
    static constexpr int64_t PARTS = 8;
};

template <int D, template <int, class> class Run, class Task>
void run_kind(const Decoder &decoder, Task &task) {
    if (decoder.neighbours > 0)
        Run<D, Sparse<D>>(decoder, task).run();
    else
        Run<D, Dense<D>>(decoder, task).run();
}

// Widths that the binding lets through.
template <template <int, class> class Run, class Task>
void run(const Decoder &decoder, Task &task) {
    if (decoder.width == 64)
        run_kind<64, Run>(decoder, task);
    else
        run_kind<128, Run>(decoder, task);
}

void rollout(const Decoder &decoder, RolloutRequest &task) { run<RolloutRun>(decoder, task); }
void backward(const Decoder &decoder, GradientRequest &task) { run<GradientRun>(decoder, task); }

void attention_forward(const SelfAttention &task) {
    if (task.width == 64)
        SelfAttentionRun<64>(task).forward();
    else
        SelfAttentionRun<128>(task).forward();
}

void attention_backward(const SelfAttention &task) {
    if (task.width == 64)
        SelfAttentionRun<64>(task).backward();
    else
        SelfAttentionRun<128>(task).backward();
}

#define METASAGE_TEXT_OF(name) #name
#define METASAGE_TEXT(name) METASAGE_TEXT_OF(name)
extern const Kernel kernel;
const Kernel kernel{METASAGE_TEXT(METASAGE_LEVEL),
                    rollout,
                    backward,
                    norm_forward,
                    norm_backward,
                    attention_forward,
                    attention_backward};

}  // namespace metasage::METASAGE_LEVEL
