// Compiled once for each instruction set, with METASAGE_LEVEL as its name.

#include "gradients.h"
#include "norm.h"
#include "rollout.h"
#include "sampler.h"

namespace metasage::METASAGE_LEVEL {

// Steps that look at all nodes, which the rollouts of a tile share.
template <int D>
struct Dense {
    using NodeData = Nodes<D>;
    using Sampler = DenseSampler<D>;
    using Replayer = Replay<D>;
    using WayBack = DenseWayBack<D>;

    // Where tours end at different times, lanes take up another rollout.
    static int64_t block(Problem problem) {
        return problem == Problem::pctsp || problem == Problem::op ? BLOCK_OF_ROLLOUTS : TILE;
    }
    static int64_t most_rows(int64_t most_steps) { return most_steps; }
};

// Widths that the binding lets through.
template <template <int, class> class Run, class Task>
void run(const Decoder &decoder, Task &task) {
    if (decoder.width == 64)
        Run<64, Dense<64>>(decoder, task).run();
    else
        Run<128, Dense<128>>(decoder, task).run();
}

void rollout(const Decoder &decoder, Rollouts &task) { run<RolloutRun>(decoder, task); }
void backward(const Decoder &decoder, Gradients &task) { run<GradientRun>(decoder, task); }

#define METASAGE_TEXT_OF(name) #name
#define METASAGE_TEXT(name) METASAGE_TEXT_OF(name)
extern const Kernel kernel;
const Kernel kernel{METASAGE_TEXT(METASAGE_LEVEL), rollout, backward, norm_forward,
                    norm_backward};

}  // namespace metasage::METASAGE_LEVEL
