// Python binding of the native engine.

#include <nanobind/nanobind.h>

namespace nb = nanobind;

NB_MODULE(_native, module) {
    module.doc() = "Rollout kernels of metasage.";
}
