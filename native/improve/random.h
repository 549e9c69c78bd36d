// A stream of random numbers that its seed alone decides.

#pragma once

#include "common/random.h"

namespace metasage::improve {

class Random {
public:
    explicit Random(uint64_t seed) : seed_(mix(seed)) {}

    int below(int bound) { return int(((next() >> 32) * uint64_t(bound)) >> 32); }
    // A number in (0, 1].
    double fraction() { return double((next() >> 11) + 1) * 0x1p-53; }

private:
    uint64_t next() { return mix(seed_ + drawn_++); }

    uint64_t seed_, drawn_ = 0;
};

}  // namespace metasage::improve
