// A CVRP with what all searches of it share.

#pragma once

#include <climits>
#include <limits>

#include "improve/neighbours.h"

namespace metasage::improve {

using Routes = std::vector<std::vector<int>>;  // without the depot, which is node 0

// What a solution has to keep to.
struct RoutesLimits {
    static constexpr double ANY = std::numeric_limits<double>::infinity();

    std::vector<int64_t> demand;  // in whole units, 0 at the depot
    int64_t capacity;
    int vehicles = INT_MAX;
    double longest = ANY;              // of a route, service included
    std::vector<double> service = {};  // of each node; empty for none
};

struct RoutesTask : RoutesLimits {
    // Near nodes of a customer: those beside which it may be inserted.
    static constexpr int NEIGHBOURS = 100;
    // Relative slack of the checker; half of it is left to sums in another order.
    static constexpr double TOLERANCE = 0.5e-9;

    RoutesTask(Lengths measured, RoutesLimits limits)
        : RoutesLimits(std::move(limits)),
          lengths(std::move(measured)),
          neighbours(lengths, NEIGHBOURS),
          directed(lengths.is_directed()),
          plain(!directed && longest == ANY),
          least_gain(1e-10 * lengths.longest()) {
        longest *= 1.0 + TOLERANCE;
        service.resize(lengths.nodes(), 0.0);
    }

    int nodes() const { return lengths.nodes(); }

    double duration(const std::vector<int> &route) const {
        double sum = 0.0;
        int at = 0;
        for (const int node : route) {
            sum += lengths(at, node) + service[node];
            at = node;
        }
        return sum + lengths(at, 0);
    }

    Lengths lengths;
    Neighbours neighbours;
    bool directed;
    bool plain;         // neither directed nor limited in length
    double least_gain;  // below this a difference is rounding
};

}  // namespace metasage::improve
