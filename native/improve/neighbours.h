// The nearest nodes of each node, nearest first.

#pragma once

#include <algorithm>
#include <array>
#include <numeric>

#include "improve/lengths.h"

namespace metasage::improve {

// A tree over places that halves them along their widest extent.
class PlaceTree {
public:
    explicit PlaceTree(const Lengths &lengths) : norm_(lengths.norm()), order_(lengths.nodes()) {
        for (int i = 0; i < lengths.nodes(); ++i) {
            const Point p = lengths.points()[i];
            places_.push_back({p.x, p.y, lengths.heights().empty() ? 0.0 : lengths.heights()[i]});
        }
        std::iota(order_.begin(), order_.end(), 0);
        build(0, int(order_.size()));
        rank_.resize(order_.size());
        for (size_t i = 0; i < order_.size(); ++i) rank_[order_[i]] = int(i);
    }

    struct Found {
        double distance;
        int node;
        bool operator<(const Found &other) const {
            return distance != other.distance ? distance < other.distance : node < other.node;
        }
    };

    static constexpr int EVERYWHERE = -1, QUADRANTS = 4;

    // Fills `found` with the nearest nodes of a quadrant, in order.
    void nearest(int node, int quadrant, int count, std::vector<Found> &found) const {
        found.clear();
        search(0, int(order_.size()), 0, node, quadrant, count, found);
    }

private:
    using Position = std::array<double, 3>;
    static constexpr int LEAF = 8;

    // Splits lie in the order in which both build and search meet them.
    struct Split {
        int axis, after;  // `after`: number of the split that begins the upper half
        double value;
        Position low, high;  // box around all places of both halves
    };

    void build(int from, int to) {
        if (to - from <= LEAF) return;
        Position low = places_[order_[from]], high = low;
        for (int i = from; i < to; ++i)
            for (int axis = 0; axis < 3; ++axis) {
                low[axis] = std::min(low[axis], places_[order_[i]][axis]);
                high[axis] = std::max(high[axis], places_[order_[i]][axis]);
            }
        int axis = 0;
        for (int other = 1; other < 3; ++other)
            if (high[other] - low[other] > high[axis] - low[axis]) axis = other;
        const int middle = (from + to) / 2;
        std::nth_element(order_.begin() + from, order_.begin() + middle, order_.begin() + to,
                         [&](int a, int b) { return places_[a][axis] < places_[b][axis]; });
        const size_t mine = splits_.size();
        splits_.push_back({axis, 0, places_[order_[middle]][axis], low, high});
        build(from, middle);
        splits_[mine].after = int(splits_.size());
        build(middle, to);
    }

    int quadrant_of(int node, int other) const {
        const Position &from = places_[node], &to = places_[other];
        return 2 * (to[0] >= from[0]) + (to[1] >= from[1]);
    }

    // Whether a box has no place in a quadrant of a node. Without this question an empty quadrant,
    // as all nodes of a line have, would be looked for everywhere.
    bool is_outside(const Split &box, int node, int quadrant) const {
        for (int axis = 0; axis < 2; ++axis) {
            const bool above = quadrant & (axis == 0 ? 2 : 1);
            const double here = places_[node][axis];
            if (above ? box.high[axis] < here : box.low[axis] >= here) return true;
        }
        return false;
    }

    void search(int from, int to, int split, int node, int quadrant, int count,
                std::vector<Found> &found) const {
        if (to - from <= LEAF) {
            for (int i = from; i < to; ++i) {
                const int other = order_[i];
                if (other == node) continue;
                if (quadrant == EVERYWHERE || quadrant == quadrant_of(node, other))
                    offer({distance(node, other), other}, count, found);
            }
            return;
        }
        const Split &here = splits_[split];
        if (quadrant != EVERYWHERE && is_outside(here, node, quadrant)) return;
        if (int(found.size()) == count && distance(node, here) >= found.back().distance) return;
        const int middle = (from + to) / 2;
        const double beyond = places_[node][here.axis] - here.value;
        // Of many nodes at one place, each begins with those beside it in the tree: if all
        // began at the same end, they would have the same few neighbours.
        const bool upper = beyond != 0.0 ? beyond > 0.0 : rank_[node] >= middle;
        const auto half = [&](bool top) {
            if (top)
                search(middle, to, here.after, node, quadrant, count, found);
            else
                search(from, middle, split + 1, node, quadrant, count, found);
        };
        half(upper);
        if (int(found.size()) < count || in_norm(std::fabs(beyond)) < found.back().distance)
            half(!upper);
    }

    static void offer(const Found &one, int count, std::vector<Found> &found) {
        if (int(found.size()) == count) {
            if (!(one < found.back())) return;
            found.pop_back();
        }
        found.insert(std::upper_bound(found.begin(), found.end(), one), one);
    }

    // Squares stand for Euclidean distances.
    double in_norm(double distance) const {
        return norm_ == Measure::manhattan || norm_ == Measure::maximum ? distance
                                                                        : distance * distance;
    }

    double distance(int a, int b) const {
        return from_parts([&](int axis) { return std::fabs(places_[a][axis] - places_[b][axis]); });
    }

    // To the nearest corner or side of a box.
    double distance(int node, const Split &box) const {
        return from_parts([&](int axis) {
            const double at = places_[node][axis];
            return std::max({0.0, box.low[axis] - at, at - box.high[axis]});
        });
    }

    template <class Part>
    double from_parts(Part part) const {
        double sum = 0.0, most = 0.0;
        for (int axis = 0; axis < 3; ++axis) {
            const double one = in_norm(part(axis));
            sum += one;
            most = std::max(most, one);
        }
        return norm_ == Measure::maximum ? most : sum;
    }

    Measure norm_;
    std::vector<Position> places_;
    std::vector<int> order_, rank_;  // the nodes from leaf to leaf, and where each stands
    std::vector<Split> splits_;
};

class Neighbours {
public:
    Neighbours(const Lengths &lengths, int most)
        : count_(std::min(most, lengths.nodes() - 1)), list_(size_t(count_) * lengths.nodes()) {
        std::vector<PlaceTree::Found> found;
        const auto store = [&](int node) {
            for (int i = 0; i < count_; ++i)
                list_[size_t(node) * count_ + i] = {found[i].node, lengths(node, found[i].node)};
            // Lengths that are rounded alike may come in any order of places.
            std::stable_sort(&list_[size_t(node) * count_], &list_[size_t(node) * count_] + count_,
                             [](const One &a, const One &b) { return a.length < b.length; });
        };
        if (count_ < 1) return;
        if (lengths.has_places()) {
            const PlaceTree tree(lengths);
            for (int node = 0; node < lengths.nodes(); ++node) {
                collect(tree, node, found);
                store(node);
            }
            return;
        }
        for (int node = 0; node < lengths.nodes(); ++node) {
            found.clear();
            for (int other = 0; other < lengths.nodes(); ++other)
                if (other != node) found.push_back({lengths(node, other), other});
            std::nth_element(found.begin(), found.begin() + count_ - 1, found.end());
            store(node);
        }
    }

    struct One {
        int node;
        double length;
    };
    struct Row {
        const One *from, *to;
        const One *begin() const { return from; }
        const One *end() const { return to; }
    };
    Row of(int node) const {
        const One *from = list_.data() + size_t(node) * count_;
        return {from, from + count_};
    }
    int count() const { return count_; }

private:
    // Some nodes of each direction, so that clusters are linked, and the nearest.
    void collect(const PlaceTree &tree, int node, std::vector<PlaceTree::Found> &chosen) const {
        std::vector<PlaceTree::Found> found;
        chosen.clear();
        for (int quadrant = 0; quadrant < PlaceTree::QUADRANTS; ++quadrant) {
            tree.nearest(node, quadrant, IN_QUADRANT, found);
            for (const PlaceTree::Found &one : found)
                if (int(chosen.size()) < count_) chosen.push_back(one);
        }
        tree.nearest(node, PlaceTree::EVERYWHERE, count_, found);
        for (const PlaceTree::Found &one : found) {
            if (int(chosen.size()) == count_) break;
            const auto same = [&](const PlaceTree::Found &other) { return other.node == one.node; };
            if (std::none_of(chosen.begin(), chosen.end(), same)) chosen.push_back(one);
        }
    }

    static constexpr int IN_QUADRANT = 2;

    int count_;
    std::vector<One> list_;
};

}  // namespace metasage::improve
