// Lists of the nearest nodes of each node.

#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "simd.h"

namespace metasage::METASAGE_LEVEL {

// Orders nodes by distance, and equally far ones by number. Squares are rounded to
// float32 last, so that equal distances are equal whatever the compiler fuses.
inline uint64_t nearness(const float *coords, int32_t from, int32_t to) {
    const double x = double(coords[2 * from]) - double(coords[2 * to]);
    const double y = double(coords[2 * from + 1]) - double(coords[2 * to + 1]);
    const float square = float(x * x + y * y);
    uint32_t bits;
    std::memcpy(&bits, &square, sizeof(bits));
    return uint64_t(bits) << 32 | uint32_t(to);
}

inline double distance_of(uint64_t nearness) {
    const uint32_t bits = uint32_t(nearness >> 32);
    float square;
    std::memcpy(&square, &bits, sizeof(square));
    return std::sqrt(double(square));
}

class NeighbourLists {
public:
    // Lists of at most `most` nodes from number `first` on, nearest first.
    void build(const float *coords, int32_t nodes, int32_t first, int64_t most) {
        coords_ = coords;
        length_ = int(std::max<int64_t>(0, std::min<int64_t>(most, nodes - first - 1)));
        lists_.resize(int64_t(nodes) * length_);
        if (length_ == 0) return;
        fill_grid(nodes, first);
        for (int32_t node = 0; node < nodes; ++node) find(node);
    }

    int length() const { return length_; }
    const int32_t *of(int32_t node) const { return lists_ + int64_t(node) * length_; }
    const float *coords() const { return coords_; }

private:
    void fill_grid(int32_t nodes, int32_t first) {
        double high_x = low_x_ = coords_[0], high_y = low_y_ = coords_[1];
        for (int32_t node = 1; node < nodes; ++node) {
            const double x = coords_[2 * node], y = coords_[2 * node + 1];
            low_x_ = std::min(low_x_, x), high_x = std::max(high_x, x);
            low_y_ = std::min(low_y_, y), high_y = std::max(high_y, y);
        }
        // About as many nodes in a ring of cells as a list takes from it.
        side_ = std::max(1, int(std::sqrt(double(nodes) / 4)));
        const double extent = std::max(high_x - low_x_, high_y - low_y_);
        cell_ = extent > 0.0 ? extent / side_ : 1.0;
        begin_.assign(side_ * side_ + 1, 0);
        for (int32_t node = first; node < nodes; ++node) ++begin_[cell_of(node) + 1];
        for (int cell = 0; cell < side_ * side_; ++cell) begin_[cell + 1] += begin_[cell];
        members_.resize(nodes - first);
        std::vector<int32_t> next(begin_.begin(), begin_.end() - 1);
        for (int32_t node = first; node < nodes; ++node) members_[next[cell_of(node)]++] = node;
    }

    int column(double x, double low) const {
        return std::min(side_ - 1, int((x - low) / cell_));
    }

    int cell_of(int32_t node) const {
        return column(coords_[2 * node + 1], low_y_) * side_ + column(coords_[2 * node], low_x_);
    }

    void find(int32_t node) {
        found_.clear();
        int ring = 0;
        add_ring(node, 0);
        while (int(found_.size()) < length_) add_ring(node, ++ring);
        const auto last = [&] { return found_.begin() + (length_ - 1); };
        std::nth_element(found_.begin(), last(), found_.end());
        // A node further out than a ring is at least that many cells away.
        const double reach = 1.00001 * distance_of(*last()) / cell_;
        while (ring < reach && ring < side_) add_ring(node, ++ring);
        std::nth_element(found_.begin(), last(), found_.end());
        std::sort(found_.begin(), last() + 1);
        int32_t *list = lists_ + int64_t(node) * length_;
        for (int i = 0; i < length_; ++i) list[i] = int32_t(uint32_t(found_[i]));
    }

    void add_ring(int32_t node, int ring) {
        const int cell = cell_of(node), row = cell / side_, column = cell % side_;
        for (int y = std::max(0, row - ring); y <= std::min(side_ - 1, row + ring); ++y) {
            const bool edge = y == row - ring || y == row + ring;
            const int apart = edge || ring == 0 ? 1 : 2 * ring;
            for (int x = column - ring; x <= column + ring; x += apart) {
                if (x < 0 || x >= side_) continue;
                for (int i = begin_[y * side_ + x]; i < begin_[y * side_ + x + 1]; ++i)
                    if (members_[i] != node) found_.push_back(nearness(coords_, node, members_[i]));
            }
        }
    }

    const float *coords_ = nullptr;
    int length_ = 0, side_ = 1;
    double low_x_ = 0.0, low_y_ = 0.0, cell_ = 1.0;
    Buffer<int32_t> lists_;
    // Nodes cell by cell, and where each cell begins.
    std::vector<int32_t> members_, begin_;
    std::vector<uint64_t> found_;
};

}  // namespace metasage::METASAGE_LEVEL
