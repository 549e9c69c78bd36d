// Counts the tiniest numbers as zero while it lives.

#pragma once

#include <cstdint>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace metasage {

// A strong locality bias makes many probabilities smaller than any normal float, and the processor
// needs a hundred times as long for each of them. The setting belongs to the thread.
class NoSubnormals {
public:
    NoSubnormals(const NoSubnormals &) = delete;
    NoSubnormals &operator=(const NoSubnormals &) = delete;

#if defined(__SSE__)
    NoSubnormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | FLUSH_RESULTS | FLUSH_OPERANDS); }
    ~NoSubnormals() { _mm_setcsr(before_); }

private:
    static constexpr unsigned FLUSH_RESULTS = 0x8000, FLUSH_OPERANDS = 0x0040;
    unsigned before_;
#elif defined(__aarch64__)
    NoSubnormals() {
        asm volatile("mrs %0, fpcr" : "=r"(before_));
        asm volatile("msr fpcr, %0" : : "r"(before_ | FLUSH));
    }
    ~NoSubnormals() { asm volatile("msr fpcr, %0" : : "r"(before_)); }

private:
    static constexpr uint64_t FLUSH = uint64_t(1) << 24;
    uint64_t before_;
#else
    NoSubnormals() {}
#endif
};

}  // namespace metasage
