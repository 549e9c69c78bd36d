// Whether routes are what their sums say: for builds that look for mistakes.

#pragma once

#include <stdexcept>

#include "improve/routes/plan.h"

namespace metasage::improve {

#ifdef METASAGE_VERIFY
constexpr bool VERIFYING = true;
#else
constexpr bool VERIFYING = false;
#endif

// Throws if a link, a sum or a limit does not hold.
inline void verify(const RoutesTask &task, Plan &plan, int vehicles) {
    const auto require = [](bool holds, const char *what) {
        if (!holds) throw std::logic_error(what);
    };
    const auto close = [](double a, double b) {
        return std::fabs(a - b) <= 1e-7 * (1.0 + std::fabs(a));
    };
    std::vector<char> seen(task.nodes(), 0);
    double length = 0.0;
    int used = 0, visited = 0;
    for (int route = 0; route < task.nodes(); ++route) {
        int64_t load = 0;
        double duration = 0.0;
        int at = plan.depot_of(route), count = 0;
        do {
            const int next = plan.next(at);
            require(plan.prev(next) == at, "links differ by direction");
            require(plan.route_of(next) == route, "a node is in another route");
            require(close(plan.edge(at, false), plan.between(at, next)),
                    "an edge is measured wrong");
            require(plan.edge(at, false) == plan.edge(next, true), "an edge has two lengths");
            length += plan.edge(at, false);
            duration += plan.duration(at, next);
            if (!plan.is_depot(next)) {
                require(!seen[next], "a customer is visited twice");
                seen[next] = 1;
                load += task.demand[next];
                require(plan.way(next).load == load, "a load is summed wrong");
                require(plan.way(next).position == ++count, "a position is wrong");
                if (!task.plain)
                    require(close(plan.way(next).forth, duration), "a duration is summed wrong");
            }
            at = next;
        } while (!plan.is_depot(at));
        require(plan.load(route) == load && plan.count(route) == count, "a route is counted wrong");
        require(load <= task.capacity, "a vehicle is overloaded");
        if (!task.plain) {
            require(close(plan.duration(route), duration), "a route is measured wrong");
            require(duration <= task.longest * (1.0 + 1e-9), "a route is too long");
        }
        used += count > 0;
        visited += count;
    }
    for (int node = 1; node < task.nodes(); ++node)
        require(seen[node] == (plan.route_of(node) != Plan::NOWHERE), "a customer is lost");
    require(plan.used() == used && plan.visited() == visited, "routes are counted wrong");
    require(used <= vehicles, "there are too many routes");
    require(close(plan.length(), length), "the routes are measured wrong");
}

// Throws if a move gains something else than it promised.
inline void verify_length(const Plan &plan, double promised) {
    if (std::fabs(plan.length() - promised) > 1e-7 * (1.0 + promised))
        throw std::logic_error("a move gains something else than it promised");
}

}  // namespace metasage::improve
