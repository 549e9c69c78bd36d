// When a computation gives up.

#pragma once

#include <chrono>
#include <functional>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace metasage {

// When to give up: at a deadline, or when the user asks for it.
struct Patience {
    using Clock = std::chrono::steady_clock;

    bool has_deadline = false;
    Clock::time_point deadline;
    // Asked by the thread that called, which alone may listen to signals.
    std::function<bool()> stopped;

    bool is_over() {
        const Clock::time_point now = Clock::now();
        if (has_deadline && now > deadline) return true;
#if defined(_OPENMP)
        if (omp_get_thread_num() != 0) return false;
#endif
        if (!stopped || now - asked_ < BETWEEN_QUESTIONS) return false;
        asked_ = now;
        return stopped();
    }

private:
    static constexpr std::chrono::milliseconds BETWEEN_QUESTIONS{30};
    Clock::time_point asked_ = Clock::now();
};

}  // namespace metasage
