// Vectors of one rollout a lane, and the elementary functions on them.

#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "rollout/kernel.h"

namespace metasage::METASAGE_LEVEL {

#if defined(__AVX512F__)
constexpr int LANES = 16;
#elif defined(__AVX2__)
constexpr int LANES = 8;
#else
constexpr int LANES = 4;
#endif
constexpr int VECTORS = TILE / LANES;

// One bit a lane.
using Bits = uint32_t;
static_assert(TILE == 8 * sizeof(Bits));

template <int N>
struct VectorOf {
    typedef float Float __attribute__((vector_size(N * 4)));
    typedef int32_t Int __attribute__((vector_size(N * 4)));
};
using Vector = VectorOf<LANES>::Float;
using IntVector = VectorOf<LANES>::Int;

// Stands for "not allowed"; infinities would turn into NaN when subtracted.
constexpr float FORBIDDEN = -1e30f;
// Far above it, and far below any score.
constexpr float LOWEST = -1e29f;
constexpr float TINY = 1e-30f;
constexpr float LOG2E = 1.44269504f;

template <class V = Vector, class T = float>
inline V load(const T *from) {
    V v;
    std::memcpy(&v, from, sizeof(V));
    return v;
}

template <class V>
inline void store(float *to, V v) {
    std::memcpy(to, &v, sizeof(V));
}

inline Vector max(Vector a, Vector b) { return a > b ? a : b; }
inline Vector fill(float x) { return Vector{} + x; }

// Lanes of part `v` of a tile whose bit is set keep their value.
inline Vector keep(Bits bits, int v, Vector a, float otherwise) {
#if defined(__AVX512F__)
    const auto mask = __mmask16(bits >> (v * LANES));
    return (Vector)_mm512_mask_blend_ps(mask, _mm512_set1_ps(otherwise), (__m512)a);
#else
    IntVector bit;
    for (int lane = 0; lane < LANES; ++lane) bit[lane] = 1 << lane;
    const IntVector on = (IntVector{} + int32_t(bits >> (v * LANES))) & bit;
    return on != 0 ? a : fill(otherwise);
#endif
}

inline Vector square_root(Vector a) {
#if defined(__AVX512F__)
    return (Vector)_mm512_sqrt_ps((__m512)a);
#elif defined(__AVX2__)
    return (Vector)_mm256_sqrt_ps((__m256)a);
#else
    for (int lane = 0; lane < LANES; ++lane) a[lane] = __builtin_sqrtf(a[lane]);
    return a;
#endif
}

// 2^x for x < 128 to about 1e-7, and exactly 0 from -127 downwards.
inline Vector exp2(Vector x) {
    x = max(x, fill(-127.0f));
    const Vector rounder = fill(12582912.0f);
    const Vector shifted = x + rounder;
    const Vector f = x - (shifted - rounder);
    // Minimax on [-1/2, 1/2].
    Vector p = fill(1.32647271e-03f);
    p = p * f + 9.67151264e-03f;
    p = p * f + 5.55073374e-02f;
    p = p * f + 2.40222421e-01f;
    p = p * f + 6.93146978e-01f;
    p = p * f + 1.0f;
    return (Vector)((IntVector)p + ((IntVector)shifted << 23));
}

// log2(x) for normal x > 0.
inline Vector log2(Vector x) {
    const IntVector bits = (IntVector)x;
    // Exponent such that the mantissa lies around 1.
    const IntVector exponent = (bits - 0x3f3504f3) >> 23;
    const Vector m = (Vector)(bits - (exponent << 23));
    const Vector s = (m - 1.0f) / (m + 1.0f), s2 = s * s;
    Vector p = fill(2.0f / 9.0f);
    p = p * s2 + 2.0f / 7.0f;
    p = p * s2 + 2.0f / 5.0f;
    p = p * s2 + 2.0f / 3.0f;
    p = p * s2 + 2.0f;
    return __builtin_convertvector(exponent, Vector) + LOG2E * (p * s);
}

// x^y for x, y >= 0; more than tanh can tell from infinity is cut off.
inline Vector power(Vector x, float y) {
    const Vector exponent = log2(max(x, fill(1e-37f))) * y;
    const Vector result = exp2(exponent < 64.0f ? exponent : fill(64.0f));
    return x > 0.0f ? result : fill(y == 0.0f ? 1.0f : 0.0f);
}

inline Vector tanh(Vector x) {
    const Vector size = max(x, -x);
    const Vector e = exp2(size * (-2.0f * LOG2E));
    const Vector t = (1.0f - e) / (1.0f + e);
    return x < 0.0f ? -t : t;
}

// Lanes of a, counted from 0, and of b, from LANES on.
template <int... FROM>
inline Vector pick(Vector a, Vector b) {
#if defined(__clang__)
    return __builtin_shufflevector(a, b, FROM...);
#else
    return __builtin_shuffle(a, b, IntVector{FROM...});
#endif
}

template <int WIDTH, int... LANE>
inline void swap_blocks(Vector (&rows)[LANES], std::integer_sequence<int, LANE...>) {
#pragma GCC unroll 16
    for (int i = 0; i < LANES; ++i) {
        if (i & WIDTH) continue;
        const Vector a = rows[i], b = rows[i + WIDTH];
        rows[i] = pick<(LANE & WIDTH ? LANES + LANE - WIDTH : LANE)...>(a, b);
        rows[i + WIDTH] = pick<(LANE & WIDTH ? LANES + LANE : LANE + WIDTH)...>(a, b);
    }
}

// Transposes LANES vectors in place, by swapping ever larger blocks.
template <int WIDTH = 1>
inline void transpose(Vector (&rows)[LANES]) {
    swap_blocks<WIDTH>(rows, std::make_integer_sequence<int, LANES>());
    if constexpr (2 * WIDTH < LANES) transpose<2 * WIDTH>(rows);
}

// Memory for numbers, aligned for any vector; its contents start undefined.
template <class T>
class Buffer {
public:
    Buffer() = default;
    explicit Buffer(int64_t size) { resize(size); }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer() { std::free(data_); }

    void resize(int64_t size) {
        std::free(data_);
        const size_t bytes = (size_t(size) * sizeof(T) + 63) / 64 * 64;
        data_ = static_cast<T *>(std::aligned_alloc(64, bytes ? bytes : 64));
        if (data_ == nullptr) std::abort();
        size_ = size;
    }
    void clear() { std::memset(static_cast<void *>(data_), 0, size_ * sizeof(T)); }

    int64_t size() const { return size_; }
    operator T *() { return data_; }
    operator const T *() const { return data_; }

private:
    T *data_ = nullptr;
    int64_t size_ = 0;
};

}  // namespace metasage::METASAGE_LEVEL
