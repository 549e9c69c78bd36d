// What the test programs share: a condition that ends them if it does not hold.

#pragma once

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

__attribute__((format(printf, 2, 3))) inline void require(bool holds, const char *format, ...) {
    if (holds) return;
    va_list values;
    va_start(values, format);
    std::vprintf(format, values);
    va_end(values);
    std::printf("\n");
    std::exit(1);
}
