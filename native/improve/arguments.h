// What the bindings of all local searches read from Python, and tell it.

#pragma once

#include "common/arguments.h"
#include "improve/effort.h"
#include "improve/lengths.h"

// Parts of the signatures that Python's stub is made of.
#define METASAGE_NODES "numpy.typing.NDArray[numpy.int32]"
#define METASAGE_EFFORT                                     \
    "threads: int, seed: int, seconds_left: float | None, " \
    "stopped: collections.abc.Callable[[], bool] | None"
#define METASAGE_LISTENER "collections.abc.Callable[[float], bool | None] | None"

namespace metasage::improve {

Lengths read_lengths(Arguments &arguments, nanobind::handle data);

// Threads, seed, time and, where they are given, kicks.
Effort read_effort(Arguments &arguments);

// Calls a listener, if there is one; False, or an error of its own, ends the search.
bool tell(const nanobind::object &listener, double objective);

nanobind::object to_array(const std::vector<int> &order);

// Adds the search of routes to the module.
void bind_routes(nanobind::module_ &module);

}  // namespace metasage::improve
