// Cuts routes into parts of the plane.

#pragma once

#include <numeric>

#include "improve/random.h"
#include "improve/routes/task.h"

namespace metasage::improve {

// Parts with about as many customers each: those before, between and behind some parallels.
inline std::vector<Routes> cut(const RoutesTask &task, const Routes &routes, int parts,
                               Random &random) {
    const double angle = 3.141592653589793 * random.fraction();
    // Without places, lengths from two nodes stand for them.
    const int east = random.below(task.nodes()), north = random.below(task.nodes());
    const auto along = [&](int node) {
        const Point at = task.lengths.has_places()
                             ? task.lengths.points()[node]
                             : Point{task.lengths(east, node), task.lengths(north, node)};
        return std::cos(angle) * at.x + std::sin(angle) * at.y;
    };
    std::vector<double> centres;
    size_t customers = 0;
    for (const std::vector<int> &route : routes) {
        double sum = 0.0;
        for (const int node : route) sum += along(node);
        centres.push_back(sum / double(route.size()));
        customers += route.size();
    }
    std::vector<int> order(routes.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return centres[a] < centres[b]; });
    std::vector<Routes> result(parts);
    size_t before = 0;
    for (const int route : order) {
        result[before * parts / customers].push_back(routes[route]);
        before += routes[route].size();
    }
    return result;
}

}  // namespace metasage::improve
