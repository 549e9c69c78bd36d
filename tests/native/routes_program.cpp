// Searches small random instances of every kind while the search verifies itself.

#define METASAGE_LEVEL improve
#define METASAGE_VERIFY

#include <cstdio>

#include "improve/routes/search.h"

using namespace metasage;
using namespace metasage::improve;

int main() {
    int searched = 0;
    for (uint64_t seed = 0; seed < 60; ++seed) {
        Random random(seed);
        // Beyond 1,500 nodes the lanes have parts of the plane.
        const int nodes = seed % 20 == 0 ? 1'600 : 2 + random.below(60);
        const bool directed = seed % 4 == 1, limited = seed % 3 == 1, rounded = seed % 2 == 0;
        std::vector<double> places(2 * size_t(nodes)), matrix(size_t(nodes) * nodes);
        // Few different places, so that some are shared.
        for (double &one : places) one = rounded ? random.below(40) : random.fraction();
        for (int a = 0; a < nodes; ++a)
            for (int b = 0; b < nodes; ++b)
                matrix[size_t(a) * nodes + b] =
                    a == b ? 0.0
                           : std::hypot(places[2 * a] - places[2 * b],
                                        places[2 * a + 1] - places[2 * b + 1]) *
                                 (0.8 + 0.4 * random.fraction());
        RoutesLimits limits;
        limits.demand = {0};
        int64_t total = 0;
        for (int node = 1; node < nodes; ++node) {
            limits.demand.push_back(random.below(10));
            total += limits.demand.back();
        }
        limits.capacity = seed % 7 == 0 ? total : 10 + random.below(60);
        if (seed % 5 == 2) limits.vehicles = int(total / limits.capacity) + 1 + random.below(2);
        if (limited) {
            limits.longest = (rounded ? 40.0 : 1.0) * (2.0 + 2.0 * random.fraction());
            for (int node = 0; node < nodes; ++node)
                limits.service.push_back(node == 0 ? 0.0
                                                   : 0.02 * limits.longest * random.fraction());
        }
        const Lengths lengths =
            directed ? Lengths(nodes, Measure::matrix, Rounding::none, matrix.data())
                     : Lengths(nodes, Measure::euclidean,
                               rounded ? Rounding::nearest : Rounding::none, places.data());
        const RoutesTask task(lengths, limits);
        RoutesSearch search(task, {2, seed, 400, Patience{}});
        const FoundRoutes start = search.construct();
        Routes all = start.routes;
        for (const int node : start.absent) all.push_back({node});
        FoundRoutes found;
        search.run(all, [&](const FoundRoutes &better) {
            found = better;
            return true;
        });
        size_t customers = found.absent.size();
        double length = 0.0;
        for (const std::vector<int> &route : found.routes) {
            customers += route.size();
            int at = 0;
            for (const int node : route) length += lengths(at, node), at = node;
            length += lengths(at, 0);
        }
        if (int(customers) != nodes - 1 ||
            std::fabs(length - found.value.length) > 1e-6 * (1 + length)) {
            std::printf("seed %d: %d of %d customers, length %.12g, said %.12g\n", int(seed),
                        int(customers), nodes - 1, length, found.value.length);
            return 1;
        }
        ++searched;
    }
    std::printf("searched %d instances\n", searched);
}
