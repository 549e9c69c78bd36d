// What the bindings of all local searches read from Python, and tell it.

#pragma once

#include <nanobind/stl/string.h>

#include "../arguments.h"
#include "effort.h"
#include "lengths.h"

namespace metasage::improve {

[[noreturn]] inline void refuse(const std::string &message) {
    throw std::invalid_argument(message);
}

template <class Value>
Value choose(Arguments &arguments, const char *name,
             const std::vector<std::pair<const char *, Value>> &values) {
    std::string given, all;
    if (!nanobind::try_cast(arguments.required(name), given))
        refuse(std::string(name) + " has to be a text.");
    for (const auto &[text, value] : values) {
        if (given == text) return value;
        all += std::string(all.empty() ? "" : ", ") + text;
    }
    refuse(std::string(name) + " is '" + given + "' and must be one of " + all + ".");
}

Lengths read_lengths(Arguments &arguments, nanobind::handle data);

// Threads, seed, time and, where they are given, kicks.
Effort read_effort(Arguments &arguments);

// Calls a listener, if there is one; False, or an error of its own, ends the search.
bool tell(const nanobind::object &listener, double objective);

nanobind::object to_array(const std::vector<int> &order);

// Adds the search of routes to the module.
void bind_routes(nanobind::module_ &module);

}  // namespace metasage::improve
