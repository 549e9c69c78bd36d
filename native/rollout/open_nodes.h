// The customers that a rollout has not visited yet, in a grid that finds near ones.

#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "rollout/simd.h"

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

class OpenNodes {
public:
    // Opens all nodes from number `first` on; `crowd` is how many a cell may hold.
    void reset(const float *coords, int32_t nodes, int32_t first, int64_t crowd) {
        coords_ = coords;
        crowd_ = crowd;
        place_.assign(nodes, -1);
        cell_.resize(nodes);
        members_.clear();
        for (int32_t node = first; node < nodes; ++node) members_.push_back(node);
        count_ = nodes - first;
        double high_x = low_x_ = coords[0], high_y = low_y_ = coords[1];
        for (int32_t node = 0; node < nodes; ++node) {
            const double x = coords[2 * node], y = coords[2 * node + 1];
            low_x_ = std::min(low_x_, x), high_x = std::max(high_x, x);
            low_y_ = std::min(low_y_, y), high_y = std::max(high_y, y);
        }
        extent_ = std::max(high_x - low_x_, high_y - low_y_);
        arrange();
    }

    void visit(int32_t node) {
        const int32_t place = place_[node];
        if (place < 0) return;
        const int32_t last = --end_[cell_[node]];
        members_[place] = members_[last];
        place_[members_[place]] = place;
        place_[node] = -1;
        // Cells keep about as many nodes as they are meant to.
        if (--count_ < arranged_ / 2) {
            gather();
            arrange();
        }
    }

    bool holds(int32_t node) const { return place_[node] >= 0; }

    template <class Do>
    void each(Do what) const {
        for (size_t cell = 0; cell < end_.size(); ++cell)
            for (int32_t i = begin_[cell]; i < end_[cell]; ++i) what(members_[i]);
    }

    // The open nodes in the cells that are `ring` away from a node's own.
    template <class Do>
    void each_in_ring(int32_t node, int ring, Do what) const {
        const int row = line(coords_[2 * node + 1], low_y_);
        const int column = line(coords_[2 * node], low_x_);
        for (int y = std::max(0, row - ring); y <= std::min(side_ - 1, row + ring); ++y) {
            const bool edge = y == row - ring || y == row + ring;
            for (int x = column - ring; x <= column + ring; x += edge || ring == 0 ? 1 : 2 * ring) {
                if (x < 0 || x >= side_) continue;
                const int cell = y * side_ + x;
                for (int32_t i = begin_[cell]; i < end_[cell]; ++i) what(members_[i]);
            }
        }
    }

    // Rings beyond the last are empty; nodes beyond a ring are that many widths away.
    int rings() const { return side_; }
    double width() const { return width_; }

private:
    // Brings the open nodes to the front.
    void gather() {
        int32_t place = 0;
        each([&](int32_t node) { members_[place++] = node; });
    }

    void arrange() {
        arranged_ = count_;
        side_ = std::max(1, int(std::sqrt(double(count_) / double(crowd_))));
        width_ = extent_ > 0.0 ? extent_ / side_ : 1.0;
        begin_.assign(side_ * side_ + 1, 0);
        for (int32_t i = 0; i < count_; ++i) {
            const int32_t node = members_[i];
            cell_[node] =
                line(coords_[2 * node + 1], low_y_) * side_ + line(coords_[2 * node], low_x_);
            ++begin_[cell_[node] + 1];
        }
        for (int cell = 0; cell < side_ * side_; ++cell) begin_[cell + 1] += begin_[cell];
        end_.assign(begin_.begin(), begin_.end() - 1);
        const std::vector<int32_t> nodes(members_.begin(), members_.begin() + count_);
        for (const int32_t node : nodes) {
            place_[node] = end_[cell_[node]]++;
            members_[place_[node]] = node;
        }
    }

    int line(double at, double low) const { return std::min(side_ - 1, int((at - low) / width_)); }

    const float *coords_ = nullptr;
    int64_t crowd_ = 1;
    int32_t count_ = 0, arranged_ = 0;
    int side_ = 1;
    double low_x_ = 0.0, low_y_ = 0.0, extent_ = 0.0, width_ = 1.0;
    // Open nodes cell by cell, and where each cell begins and ends; of each node its
    // cell and its place among them, -1 if it was visited.
    std::vector<int32_t> members_, begin_, end_, cell_, place_;
};

}  // namespace metasage::METASAGE_LEVEL
