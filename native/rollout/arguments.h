// What Python hands to the kernels of rollouts, checked.

#pragma once

#include "common/arguments.h"
#include "rollout/kernel.h"

namespace metasage {

// Reads what both functions take: instances, network outputs and settings.
Decoder read_decoder(Arguments &arguments);
RolloutRequest read_rollout_request(Arguments &arguments, const Decoder &decoder);
GradientRequest read_gradient_request(Arguments &arguments, const Decoder &decoder);

}  // namespace metasage
