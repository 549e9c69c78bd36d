// What is to be improved: a tour through all nodes, or through a choice of them.

#pragma once

#include "improve/neighbours.h"

namespace metasage::improve {

enum class Goal {  // in the order of TourSearch's heats
    shortest,      // TSP: all nodes
    least_cost,    // PCTSP: length plus penalties of nodes left out, with enough prize
    most_prize,    // OP: prize within a bound on the length; of equal prizes the shorter tour
};

// Sums over a tour; `penalty` is that of the nodes visited, which is saved.
struct Totals {
    double length = 0.0, prize = 0.0, penalty = 0.0;
};

struct TourTask {
    // Relative slack of the checker; half of it is left to sums in another order.
    static constexpr double TOLERANCE = 0.5e-9;
    static constexpr int NEIGHBOURS = 10;

    Goal goal;
    Lengths lengths;
    Neighbours neighbours;
    std::vector<double> prize, penalty;
    double bound = 0.0;              // least prize, or greatest length
    double least_gain, least_prize;  // below these a difference is rounding

    TourTask(Goal goal, Lengths given, std::vector<double> prizes, std::vector<double> penalties,
             double limit)
        : goal(goal),
          lengths(std::move(given)),
          neighbours(lengths, NEIGHBOURS),
          prize(std::move(prizes)),
          penalty(std::move(penalties)),
          bound(goal == Goal::most_prize ? limit * (1.0 + TOLERANCE) : limit * (1.0 - TOLERANCE)) {
        double total = 0.0;
        for (const double one : prize) total += one;
        least_gain = 1e-12 * lengths.longest();
        least_prize = 1e-12 * total;
    }

    bool selective() const { return goal != Goal::shortest; }

    bool feasible(const Totals &totals) const {
        if (goal == Goal::most_prize) return totals.length <= bound;
        return goal == Goal::shortest || totals.prize >= bound;
    }

    // How much better the second is than the first; the sign decides, and for
    // equal prizes the length.
    double gain(const Totals &before, const Totals &after) const {
        const double shorter = before.length - after.length;
        if (goal == Goal::shortest) return shorter;
        if (goal == Goal::least_cost) return shorter + after.penalty - before.penalty;
        const double more = after.prize - before.prize;
        return std::fabs(more) > least_prize ? more : shorter;
    }
};

}  // namespace metasage::improve
