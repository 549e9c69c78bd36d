// The tour of a search, its sums, and the moves that change both.

#pragma once

#include "improve/queue.h"
#include "improve/tour/lin_kernighan.h"
#include "improve/tour/task.h"

namespace metasage::improve {

class State {
public:
    explicit State(const TourTask &task)
        : task(task),
          tour(task.lengths.nodes()),
          queue(task.lengths.nodes()),
          exchanges_(task.lengths, task.neighbours, task.least_gain) {}

    const TourTask &task;
    Tour tour;
    Totals totals;
    WorkQueue queue;
    // What a unit of prize is worth in length, at which nodes come and go.
    double price = 0.0;

    // Whether nodes come and go at that price in a descent, or stay as they are.
    enum class Choice { fixed, priced };
    Choice choice = Choice::fixed;

    void adopt(const std::vector<int> &order) {
        tour.assign(order);
        measure();
        keep();
    }

    // Sums drift where lengths are not integral.
    void measure() {
        totals = {};
        for (int i = 0; i < tour.size(); ++i) {
            const int node = tour.at(i);
            totals.length += task.lengths(node, tour.at(tour.wrapped(i + 1)));
            if (task.selective()) count(node, 1.0);
        }
    }

    bool feasible() const { return task.feasible(totals); }
    const Totals &kept() const { return kept_; }

    void keep() {
        tour.commit();
        kept_ = totals;
    }
    void undo() {
        tour.undo();
        totals = kept_;
    }

    // -- moves ---------------------------------------------------------------

    struct Insertion {
        int after;
        double detour;
    };

    double detour(int prev, int node, int next) const {
        return task.lengths(prev, node) + task.lengths(node, next) - task.lengths(prev, next);
    }
    double saving(int node) const { return detour(tour.prev(node), node, tour.next(node)); }

    // The shortest detour to a node, next to a near one or to the depot.
    Insertion best_place(int node) const {
        Insertion best{0, INFINITY};
        const auto offer = [&](int near, double length) {
            const int next = tour.next(near), prev = tour.prev(near);
            const double behind = length + task.lengths(node, next) - task.lengths(near, next);
            const double ahead = length + task.lengths(node, prev) - task.lengths(near, prev);
            if (behind < best.detour) best = {near, behind};
            if (ahead < best.detour) best = {prev, ahead};
        };
        offer(0, task.lengths(0, node));
        for (const Neighbours::One &near : task.neighbours.of(node))
            if (tour.contains(near.node)) offer(near.node, near.length);
        return best;
    }

    // The shortest detour to a node; next to any one if the tour does not come near.
    Insertion best_place_anywhere(int node) const {
        for (const Neighbours::One &near : task.neighbours.of(node))
            if (tour.contains(near.node)) return best_place(node);
        Insertion best{0, INFINITY};
        for (const int prev : tour.order()) {
            const double longer = detour(prev, node, tour.next(prev));
            if (longer < best.detour) best = {prev, longer};
        }
        return best;
    }

    void insert(int node, const Insertion &place) {
        touch(place.after);
        touch(tour.next(place.after));
        tour.insert_after(place.after, node);
        totals.length += place.detour;
        count(node, 1.0);
        touch(node);
    }

    void drop(int node) {
        totals.length -= saving(node);
        count(node, -1.0);
        const int prev = tour.prev(node), next = tour.next(node);
        tour.remove(node);
        touch(prev);
        touch(next);
        queue.push(node);
    }

    // Carries out an exchange that is known to keep one tour.
    void exchange(Exchange &move) {
        for (int i = 0; i < 2 * move.edges; ++i) {
            const int end = move.ends[i], other = move.partner[i];
            if (i % 2 == 0) totals.length -= task.lengths(end, move.ends[i + 1]);
            if (i < other) totals.length += task.lengths(end, move.ends[other]);
        }
        move.apply(tour);
        touch_ends(move);
    }

    // -- descent -------------------------------------------------------------

    // Works off the queue. `late` is asked now and then and ends it early.
    template <class Late>
    void descend(Late late) {
        for (int work = 1; !queue.empty(); ++work) {
            if (work >= 64) {
                if (late()) break;
                work = 0;
            }
            const int node = queue.pop();
            if (tour.contains(node)) {
                // Its own edge was exchanged, so that it waits in the queue again. A
                // change of a long tour takes its time.
                if (improve(node)) work += 8;
                const bool may_go = choice == Choice::priced && node != 0;
                if (may_go && saving(node) > worth(node) + task.least_gain) drop(node);
            } else if (choice == Choice::priced) {
                consider(node);
            }
        }
        queue.clear();
    }

private:
    void count(int node, double sign) {
        totals.prize += sign * task.prize[node];
        if (task.goal == Goal::least_cost) totals.penalty += sign * task.penalty[node];
    }

    double worth(int node) const {
        const double priced = price * task.prize[node];
        return task.goal == Goal::least_cost ? priced + task.penalty[node] : priced;
    }

    // A change at a node concerns it and the nodes around it that are left out.
    void touch(int node) {
        queue.push(node);
        if (choice == Choice::fixed) return;
        for (const Neighbours::One &near : task.neighbours.of(node))
            if (!tour.contains(near.node)) queue.push(near.node);
    }

    void touch_ends(const Exchange &move) {
        for (int i = 0; i < 2 * move.edges; ++i) touch(move.ends[i]);
    }

    bool improve(int node) {
        const double gain = exchanges_.improve(tour, node);
        if (gain <= 0.0) return false;
        totals.length -= gain;
        touch_ends(exchanges_.exchange);
        return true;
    }

    // Lets a node into the tour, in addition or for another, if that pays.
    void consider(int node) {
        const Insertion place = best_place(node);
        double best = worth(node) - place.detour;
        int replaced = -1;
        for (const Neighbours::One &near : task.neighbours.of(node)) {
            const int old = near.node;
            if (old == 0 || !tour.contains(old)) continue;
            const double longer = detour(tour.prev(old), node, tour.next(old)) - saving(old);
            const double gain = worth(node) - worth(old) - longer;
            if (gain > best) best = gain, replaced = old;
        }
        if (best <= task.least_gain) return;
        if (replaced < 0) {
            insert(node, place);
            return;
        }
        const int prev = tour.prev(replaced);
        const double longer = detour(prev, node, tour.next(replaced));
        drop(replaced);
        insert(node, {prev, longer});
    }

    Totals kept_;
    LinKernighan exchanges_;
};

}  // namespace metasage::improve
