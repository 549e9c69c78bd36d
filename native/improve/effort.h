// How long a search may take, and on how many cores.

#pragma once

#include "common/patience.h"

namespace metasage::improve {

struct Effort {
    int threads;
    uint64_t seed;
    int64_t kicks;  // over all lanes; negative for as many as the time allows
    Patience patience;
};

}  // namespace metasage::improve
