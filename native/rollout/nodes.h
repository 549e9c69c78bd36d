// What the decoder reads of an instance's nodes, in the layout of the products.

#pragma once

#include <initializer_list>

#include "rollout/attention.h"

namespace metasage::METASAGE_LEVEL {

// Pointer keys as the decoder meets them. The combining layer is multiplied into
// them unless an adapter stands between: a rollout then saves that product at
// every step. `bias` has to be zero.
template <int D>
inline void fold_pointers(const Decoder &decoder, int64_t instance, float *pointers, float *bias) {
    const int64_t count = decoder.nodes;
    const float *pointer = decoder.pointers + instance * count * D;
    if (decoder.combines()) {
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
struct Nodes : KeyValues<D> {
    using Base = KeyValues<D>;
    using Base::HEAD, Base::count, Base::padded, Base::depot, Base::keys, Base::values, Base::x,
        Base::y, Base::at;

    // [node][D]
    Buffer<float> pointers, pointer_bias;
    Buffer<float> demand;
    Buffer<int32_t> ids;

    void resize(int nodes) {
        if (count == nodes) return;
        Base::resize(nodes);
        Base::clear_to(pointers, padded * D);
        for (Buffer<float> *buffer : {&pointer_bias, &demand}) Base::clear_to(*buffer, padded);
        Base::clear_to(ids, padded);
    }

    void pack(const Decoder &decoder, int64_t instance) {
        resize(int(decoder.nodes));
        depot = decoder.problem == Problem::tsp ? -1 : 0;
        const int64_t first = instance * decoder.nodes;
        for (int node = 0; node < count; ++node) {
            const int64_t row = (first + node) * D;
            Base::set(node, decoder.keys + row, decoder.values + row,
                      decoder.coords + 2 * (first + node));
            ids[node] = node;
            demand[node] = decoder.demand ? decoder.demand[first + node] : 0.0f;
        }
        fold_pointers<D>(decoder, instance, pointers, pointer_bias);
    }

    static int64_t bytes(const Decoder &decoder) { return decoder.nodes * D * 3 * sizeof(float); }

    // Takes over the nodes of another set in a different order.
    void reorder(const Nodes &from, const int32_t *order) {
        resize(from.count);
        depot = -1;
        for (int i = 0; i < count; ++i) {
            const int node = order[i];
            if (node == from.depot) depot = i;
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
};

}  // namespace metasage::METASAGE_LEVEL
