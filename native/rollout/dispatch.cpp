// Picks the kernel for the machine at run time.

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "rollout/kernel.h"

namespace metasage {

namespace baseline {
extern const Kernel kernel;
}

#if defined(METASAGE_X86)
namespace avx2 {
extern const Kernel kernel;
}
namespace avx512 {
extern const Kernel kernel;
}
#endif

const Kernel &kernel() {
    const char *asked = std::getenv("METASAGE_SIMD");
    const std::string most = asked != nullptr && *asked != '\0' ? asked : "avx512";
    if (most != "avx512" && most != "avx2" && most != "baseline")
        throw std::invalid_argument("METASAGE_SIMD is '" + most +
                                    "' and must be avx512, avx2 or baseline.");
#if defined(METASAGE_X86)
    __builtin_cpu_init();
    if (most == "avx512" && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        return avx512::kernel;
    if (most != "baseline" && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return avx2::kernel;
#endif
    return baseline::kernel;
}

}  // namespace metasage
