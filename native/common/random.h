// Random numbers that depend on seed, rollout and step alone.

#pragma once

#include <cstdint>

namespace metasage::METASAGE_LEVEL {

// Finaliser of splitmix64.
inline uint64_t mix(uint64_t z) {
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// A number in [0, 1) that float32 represents exactly.
inline float uniform(uint64_t seed, int64_t rollout, int64_t step) {
    const uint64_t x = mix(seed + mix((uint64_t(rollout) << 32) | uint64_t(step)));
    return float(x >> 40) * 0x1p-24f;
}

}  // namespace metasage::METASAGE_LEVEL
