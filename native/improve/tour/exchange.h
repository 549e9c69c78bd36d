// Exchanges of edges: which ones leave one tour, and how they are carried out.

#pragma once

#include <utility>

#include "improve/tour/tour.h"

namespace metasage::improve {

// Edges ends[0]-ends[1], ends[2]-ends[3], ... leave; the end `i` is joined to
// the end `partner[i]`. A node both of whose edges leave occurs twice.
class Exchange {
public:
    static constexpr int MOST = 5;

    int edges = 0;
    int ends[2 * MOST], partner[2 * MOST];

    // Joins the ends in sequence: 1-2, 3-4, ..., and the last to the first.
    void join_in_sequence() {
        const int last = 2 * edges - 1;
        for (int i = 1; i < last; i += 2) join(i, i + 1);
        join(last, 0);
    }
    void join(int i, int j) {
        partner[i] = j;
        partner[j] = i;
    }

    // Whether the outcome is one tour. Every edge has to be one of the tour.
    bool keeps_one_tour(const Tour &tour) {
        for (int edge = 0; edge < edges; ++edge) {
            const bool forward = tour.next(ends[2 * edge]) == ends[2 * edge + 1];
            const int first = 2 * edge + !forward, position = tour.position(ends[first]);
            int at = edge;
            for (; at > 0 && cut_[at - 1].position > position; --at) cut_[at] = cut_[at - 1];
            cut_[at] = {position, first};
        }
        for (int at = 0; at < edges; ++at) rank_[cut_[at].first / 2] = at;
        return walk(0, [](int, bool) {}) == edges;
    }

    // Carries out an exchange that was found to keep one tour; the longest part stays in place.
    void apply(Tour &tour) {
        int longest = 0, most = -1;
        for (int part = 0; part < edges; ++part) {
            const int size = size_of(tour, part);
            if (size > most) most = size, longest = part;
        }
        moved_.clear();
        walk(longest, [&](int part, bool reversed) {
            const int size = size_of(tour, part);
            int at = reversed ? cut_[part].position : tour.wrapped(begin_of(part) + 1);
            for (int i = 0; i < size; ++i) {
                moved_.push_back(tour.at(at));
                at = reversed ? (at > 0 ? at : tour.size()) - 1 : tour.wrapped(at + 1);
            }
        });
        tour.rewrite(tour.wrapped(cut_[longest].position + 1), moved_);
    }

private:
    // The edge that leaves after a position, and the number of its first end.
    struct Cut {
        int position, first;
    };

    // Part `i` of the tour lies between the cuts i-1 and i.
    int before(int part) const { return part > 0 ? part - 1 : edges - 1; }
    int begin_of(int part) const { return cut_[before(part)].position; }
    int size_of(const Tour &tour, int part) const {
        const int size = cut_[part].position - begin_of(part);
        return size > 0 ? size : size + tour.size();
    }

    // Follows the new tour from the end of a part until it is back at its begin;
    // returns how many parts it went through. `visit` is told of all but the first.
    template <class Visit>
    int walk(int start, Visit visit) const {
        int end = cut_[start].first, visited = 1;
        for (;;) {
            const int entry = partner[end], cut = rank_[entry / 2];
            const bool reversed = entry == cut_[cut].first;
            const int part = reversed ? cut : (cut + 1 < edges ? cut + 1 : 0);
            if (part == start) return visited;
            visit(part, reversed);
            end = reversed ? cut_[before(part)].first ^ 1 : cut_[part].first;
            ++visited;
        }
    }

    Cut cut_[MOST];
    int rank_[MOST];
    std::vector<int> moved_;
};

}  // namespace metasage::improve
