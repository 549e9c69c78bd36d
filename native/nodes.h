// What the decoder reads of an instance's nodes, in the layout of the products.

#pragma once

#include <initializer_list>

#include "products.h"

namespace metasage::METASAGE_LEVEL {

// Pointer keys as the decoder meets them. The combining layer is multiplied into
// them unless an adapter stands between: a rollout then saves that product at
// every step. `bias` has to be zero.
template <int D>
inline void fold_pointers(const Decoder &decoder, int64_t instance, float *pointers, float *bias) {
    const int64_t count = decoder.nodes;
    const float *pointer = decoder.pointers + instance * count * D;
    if (decoder.adapts_after()) {
        std::memcpy(pointers, pointer, count * D * sizeof(float));
        return;
    }
    multiply<D>(pointer, decoder.combine_weight, count, pointers);
    if (decoder.combine_bias == nullptr) return;
    for (int64_t node = 0; node < count; ++node) {
        float sum = 0.0f;
        for (int k = 0; k < D; ++k) sum += pointer[node * D + k] * decoder.combine_bias[k];
        bias[node] = sum;
    }
}

template <int D>
struct Nodes {
    static constexpr int HEAD = D / HEADS;

    int count = 0, padded = 0;
    // [head][node][HEAD], so that a head streams through memory.
    Buffer<float> keys, values;
    // [node][D]
    Buffer<float> pointers, pointer_bias;
    Buffer<float> x, y, demand;
    Buffer<int32_t> ids;

    void resize(int nodes) {
        if (count == nodes) return;
        count = nodes;
        padded = (nodes + GROUP - 1) / GROUP * GROUP;
        for (Buffer<float> *buffer : {&keys, &values, &pointers}) clear_to(*buffer, padded * D);
        for (Buffer<float> *buffer : {&pointer_bias, &x, &y, &demand}) clear_to(*buffer, padded);
        clear_to(ids, padded);
    }

    void pack(const Decoder &decoder, int64_t instance) {
        resize(int(decoder.nodes));
        const int64_t first = instance * decoder.nodes;
        for (int node = 0; node < count; ++node) {
            const float *key = decoder.keys + (first + node) * D;
            const float *value = decoder.values + (first + node) * D;
            for (int h = 0; h < HEADS; ++h) {
                std::memcpy(keys + at(h, node), key + h * HEAD, HEAD * sizeof(float));
                std::memcpy(values + at(h, node), value + h * HEAD, HEAD * sizeof(float));
            }
            x[node] = decoder.coords[2 * (first + node)];
            y[node] = decoder.coords[2 * (first + node) + 1];
            ids[node] = node;
            demand[node] = decoder.demand ? decoder.demand[first + node] : 0.0f;
        }
        fold_pointers<D>(decoder, instance, pointers, pointer_bias);
    }

    static int64_t bytes(const Decoder &decoder) { return decoder.nodes * D * 3 * sizeof(float); }

    // Takes over the nodes of another set in a different order.
    void reorder(const Nodes &from, const int32_t *order) {
        resize(from.count);
        for (int i = 0; i < count; ++i) {
            const int node = order[i];
            for (int h = 0; h < HEADS; ++h) {
                std::memcpy(keys + at(h, i), from.keys + at(h, node), HEAD * sizeof(float));
                std::memcpy(values + at(h, i), from.values + at(h, node), HEAD * sizeof(float));
            }
            std::memcpy(pointers + i * D, from.pointers + node * D, D * sizeof(float));
            pointer_bias[i] = from.pointer_bias[node];
            x[i] = from.x[node];
            y[i] = from.y[node];
            ids[i] = from.ids[node];
            demand[i] = from.demand[node];
        }
    }

    int64_t at(int head, int node) const { return (int64_t(head) * padded + node) * HEAD; }

private:
    template <class T>
    static void clear_to(Buffer<T> &buffer, int64_t size) {
        buffer.resize(size);
        buffer.clear();
    }
};

}  // namespace metasage::METASAGE_LEVEL
