// Lin-Kernighan style steps: sequential exchanges of up to five edges.

#pragma once

#include "improve/neighbours.h"
#include "improve/tour/exchange.h"

namespace metasage::improve {

class LinKernighan {
public:
    LinKernighan(const Lengths &lengths, const Neighbours &neighbours, double least_gain)
        : lengths_(lengths), neighbours_(neighbours), least_gain_(least_gain) {}

    // Looks for an exchange that removes an edge of a node and shortens the tour.
    // If there is one, it is carried out, left in `exchange`, and its gain returned.
    double improve(Tour &tour, int node) {
        if (tour.size() < 4) return 0.0;
        exchange.ends[0] = node;
        for (const int other : {tour.next(node), tour.prev(node)}) {
            exchange.ends[1] = other;
            const double gain = deepen(tour, 1, lengths_(node, other));
            if (gain > 0.0) return gain;
        }
        return 0.0;
    }

    Exchange exchange;

private:
    // How many edges an exchange has at most, and how many ways are followed from
    // each level; every way is closed on trial, so that no 2-exchange is missed.
    static constexpr int DEPTH = 5;
    static constexpr int BREADTH[DEPTH] = {0, 5, 3, 2, 1}, WIDEST = 5;

    struct Step {
        int to, end;
        double gain;
    };

    // `removed` is what is left of the edges removed after those added were paid.
    double deepen(Tour &tour, int level, double removed) {
        int *ends = exchange.ends;
        const int from = ends[2 * level - 1];
        Step steps[WIDEST];
        int count = 0;
        const int next = tour.next(from), prev = tour.prev(from);
        for (const Neighbours::One &near : neighbours_.of(from)) {
            const double left = removed - near.length;
            if (left <= least_gain_) break;
            const int to = near.node;
            if (!tour.contains(to) || to == next || to == prev) continue;
            for (const int end : {tour.next(to), tour.prev(to)}) {
                if (is_removed(level, to, end)) continue;
                const double gain = left + lengths_(to, end);
                const double closed = gain - lengths_(end, ends[0]);
                if (closed > least_gain_) {
                    ends[2 * level] = to;
                    ends[2 * level + 1] = end;
                    if (closes(tour, level + 1)) return closed;
                }
                if (level + 1 == DEPTH) continue;
                keep(steps, count, BREADTH[level], {to, end, gain});
            }
        }
        if (level + 1 == DEPTH) return 0.0;
        for (int i = 0; i < count; ++i) {
            ends[2 * level] = steps[i].to;
            ends[2 * level + 1] = steps[i].end;
            const double gain = deepen(tour, level + 1, steps[i].gain);
            if (gain > 0.0) return gain;
        }
        return 0.0;
    }

    // Keeps the most promising steps, best first.
    static void keep(Step *steps, int &count, int most, const Step &step) {
        if (count == most && steps[count - 1].gain >= step.gain) return;
        int at = count < most ? count++ : count - 1;
        for (; at > 0 && steps[at - 1].gain < step.gain; --at) steps[at] = steps[at - 1];
        steps[at] = step;
    }

    bool is_removed(int level, int a, int b) const {
        const int *ends = exchange.ends;
        for (int i = 0; i < 2 * level; i += 2)
            if ((ends[i] == a && ends[i + 1] == b) || (ends[i] == b && ends[i + 1] == a))
                return true;
        return false;
    }

    bool closes(Tour &tour, int edges) {
        exchange.edges = edges;
        exchange.join_in_sequence();
        if (!exchange.keeps_one_tour(tour)) return false;
        exchange.apply(tour);
        return true;
    }

    const Lengths &lengths_;
    const Neighbours &neighbours_;
    const double least_gain_;
};

}  // namespace metasage::improve
