// A sum whose parts arrive in any order and are added in a fixed one.

#pragma once

#include <memory>

#include "rollout/simd.h"

namespace metasage::METASAGE_LEVEL {

class OrderedSum {
public:
    // Two sums of `size` numbers one after the other; a null target takes none.
    struct Part {
        std::unique_ptr<Buffer<float>> numbers;
        int64_t size = 0;
        double *first = nullptr, *second = nullptr;
    };

    void start(int64_t parts) {
        waiting_.reset(new Part[parts]);
        parts_ = parts;
    }

    void add(int64_t index, Part part) {
#pragma omp critical(metasage_ordered_sum)
        {
            waiting_[index] = std::move(part);
            for (; next_ < parts_ && waiting_[next_].numbers; ++next_) {
                Part &ready = waiting_[next_];
                const float *numbers = *ready.numbers;
                add_all(numbers, ready.size, ready.first);
                add_all(numbers + ready.size, ready.size, ready.second);
                ready.numbers.reset();
            }
        }
    }

private:
    static void add_all(const float *numbers, int64_t size, double *target) {
        if (target == nullptr) return;
        for (int64_t i = 0; i < size; ++i) target[i] += double(numbers[i]);
    }

    std::unique_ptr<Part[]> waiting_;
    int64_t parts_ = 0, next_ = 0;
};

}  // namespace metasage::METASAGE_LEVEL
