// Compiled once for each instruction set, with METASAGE_LEVEL as its name.

#include "gradients.h"
#include "norm.h"
#include "rollout.h"

namespace metasage::METASAGE_LEVEL {

// Widths that the binding lets through.
template <template <int> class Run, class Task>
void run(const Decoder &decoder, Task &task) {
    if (decoder.width == 64)
        Run<64>(decoder, task).run();
    else
        Run<128>(decoder, task).run();
}

void rollout(const Decoder &decoder, Rollouts &task) { run<RolloutRun>(decoder, task); }
void backward(const Decoder &decoder, Gradients &task) { run<GradientRun>(decoder, task); }

#define METASAGE_TEXT_OF(name) #name
#define METASAGE_TEXT(name) METASAGE_TEXT_OF(name)
extern const Kernel kernel;
const Kernel kernel{METASAGE_TEXT(METASAGE_LEVEL), rollout, backward, norm_forward,
                    norm_backward};

}  // namespace metasage::METASAGE_LEVEL
