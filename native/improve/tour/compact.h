// First tours of an OP on many nodes: all that lie around one place.

#pragma once

#include "improve/tour/task.h"

namespace metasage::improve {

// Dropping nodes from a tour through all of them leaves a wide and sparse one; the
// nodes around a place make a short and dense one.
class CompactTours {
public:
    // `order` is a tour through all nodes, whose order the choice keeps.
    CompactTours(const TourTask &task, const std::vector<int> &order)
        : task_(task), order_(order), rank_(order.size()) {}

    // The tours around those places that promise most prize, that one first.
    template <class Late>
    std::vector<std::vector<int>> build(int wanted, Late late) {
        struct Candidate {
            double prize;
            std::vector<int> tour;
        };
        std::vector<Candidate> found;
        const int nodes = int(order_.size()), centres = std::min(CENTRES, nodes);
        for (int number = 0; number < centres && !late(); ++number) {
            rank_around(order_[size_t(number) * nodes / centres]);
            const int count = largest_fitting();
            found.push_back({prize_of(count), tour_of(count)});
        }
        std::stable_sort(found.begin(), found.end(),
                         [](const Candidate &a, const Candidate &b) { return a.prize > b.prize; });
        std::vector<std::vector<int>> tours;
        for (int i = 0; i < std::min(wanted, int(found.size())); ++i)
            tours.push_back(std::move(found[i].tour));
        return tours;
    }

private:
    static constexpr int CENTRES = 24;
    // The descent that follows shortens a tour by about as much.
    static constexpr double SLACK = 1.15;

    // Numbers the nodes by their distance from a centre, the depot first.
    void rank_around(int centre) {
        std::vector<std::pair<double, int>> by_distance;
        for (const int node : order_)
            by_distance.emplace_back(node == 0 ? -1.0 : task_.lengths(centre, node), node);
        std::sort(by_distance.begin(), by_distance.end());
        by_rank_.clear();
        for (const auto &[distance, node] : by_distance) {
            rank_[node] = int(by_rank_.size());
            by_rank_.push_back(node);
        }
    }

    int largest_fitting() const {
        int fits = 1, beyond = int(order_.size()) + 1;
        while (beyond - fits > 1) {
            const int middle = (fits + beyond) / 2;
            (length_of(middle) <= SLACK * task_.bound ? fits : beyond) = middle;
        }
        return fits;
    }

    // Of the tour through the nodes of the first ranks.
    double length_of(int count) const {
        double length = 0.0;
        int first = -1, last = -1;
        for (const int node : order_) {
            if (rank_[node] >= count) continue;
            if (last < 0)
                first = node;
            else
                length += task_.lengths(last, node);
            last = node;
        }
        return length + task_.lengths(last, first);
    }

    double prize_of(int count) const {
        double prize = 0.0;
        for (int i = 0; i < count; ++i) prize += task_.prize[by_rank_[i]];
        return prize;
    }

    std::vector<int> tour_of(int count) const {
        std::vector<int> tour;
        for (const int node : order_)
            if (rank_[node] < count) tour.push_back(node);
        return tour;
    }

    const TourTask &task_;
    const std::vector<int> &order_;
    std::vector<int> rank_, by_rank_;
};

}  // namespace metasage::improve
