// Python binding of the search of routes.

#include "improve/arguments.h"
#include "improve/routes/search.h"

namespace nb = nanobind;

namespace metasage::improve {

namespace {

// A CVRP with its neighbour lists, which are made once.
class RoutesImprover {
public:
    explicit RoutesImprover(Arguments &arguments)
        : data_(arguments.required("data")), task_(read(arguments, data_)) {
        arguments.finish();
    }

    nb::list construct(nb::kwargs values) {
        Arguments arguments(std::move(values));
        const Effort effort = read_effort(arguments);
        arguments.finish();
        FoundRoutes found;
        {
            const nb::gil_scoped_release release;
            found = RoutesSearch(task_, effort).construct();
        }
        return arrays(found);
    }

    nb::list polish(nb::kwargs values) {
        Arguments arguments(std::move(values));
        const Routes start = read_routes(arguments);
        const Effort effort = read_effort(arguments);
        arguments.finish();
        FoundRoutes found;
        {
            const nb::gil_scoped_release release;
            found = RoutesSearch(task_, effort).polish(start);
        }
        return arrays(found);
    }

    void search(nb::kwargs values) {
        Arguments arguments(std::move(values));
        const Routes start = read_routes(arguments);
        const nb::object listener = arguments.optional("listener");
        const Effort effort = read_effort(arguments);
        arguments.finish();
        best_ = {};
        {
            const nb::gil_scoped_release release;
            RoutesSearch(task_, effort).run(start, [&](const FoundRoutes &found) {
                best_ = found;
                // Nobody wants to hear of routes that lack customers.
                return found.absent.empty() ? tell(listener, found.value.length) : true;
            });
        }
        if (PyErr_Occurred()) throw nb::python_error();
    }

    nb::object best() const {
        const bool none = best_.routes.empty() && best_.absent.empty();
        return none ? nb::none() : nb::object(arrays(best_));
    }

private:
    static RoutesTask read(Arguments &arguments, nb::handle data) {
        Lengths lengths = read_lengths(arguments, data);
        const int64_t nodes = lengths.nodes();
        RoutesLimits limits;
        const int64_t *demand = arguments.array<int64_t>("demand", {nodes});
        limits.demand.assign(demand, demand + nodes);
        limits.capacity = arguments.number<int64_t>("capacity");
        if (!arguments.optional("vehicles").is_none())
            limits.vehicles = arguments.number<int>("vehicles");
        if (limits.vehicles < 1) refuse("vehicles has to be at least 1.");
        if (!arguments.optional("longest").is_none())
            limits.longest = arguments.number<double>("longest");
        if (const double *service = arguments.optional_array<double>("service", {nodes}))
            limits.service.assign(service, service + nodes);
        return RoutesTask(std::move(lengths), std::move(limits));
    }

    Routes read_routes(Arguments &arguments) const {
        Routes routes;
        std::vector<char> seen(task_.nodes(), 0);
        int visited = 0;
        for (const nb::handle one : nb::list(arguments.required("routes"))) {
            const int32_t *from = Arguments::array_of<const int32_t>(one, "routes", {-1});
            routes.emplace_back(from, from + Arguments::shape_of(one, "routes")[0]);
            if (routes.back().empty())
                routes.pop_back();
            else
                for (const int node : routes.back()) {
                    if (node < 1 || node >= task_.nodes() || seen[node])
                        refuse("node " + std::to_string(node) +
                               " of a route is not there, or twice.");
                    seen[node] = 1;
                    ++visited;
                }
        }
        if (visited < task_.nodes() - 1) refuse("the routes lack a customer.");
        return routes;
    }

    // Customers without a vehicle have routes of their own; the checker will say so.
    static nb::list arrays(const FoundRoutes &found) {
        if (PyErr_Occurred()) throw nb::python_error();
        nb::list result;
        for (const std::vector<int> &route : found.routes) result.append(to_array(route));
        for (const int node : found.absent) result.append(to_array({node}));
        return result;
    }

    nb::object data_;  // a matrix is used where it lies
    RoutesTask task_;
    FoundRoutes best_;
};

}  // namespace

void bind_routes(nb::module_ &module) {
    nb::class_<RoutesImprover>(module, "RoutesImprover",
                               R"(Local search of one CVRP, with its neighbour lists.

Lengths are described as for TourImprover. Routes are arrays of customers, without the
depot, node 0. Customers for whom there is no vehicle have routes of their own.)")
        .def(nb::new_([](nb::kwargs values) {
            Arguments arguments(std::move(values));
            return new RoutesImprover(arguments);
        }))
        .def("construct", &RoutesImprover::construct,
             nb::sig("def construct(self, *, " METASAGE_EFFORT ") -> list[" METASAGE_NODES "]"),
             "Make routes to start from.")
        .def("polish", &RoutesImprover::polish,
             nb::sig("def polish(self, *, routes: list[" METASAGE_NODES "], " METASAGE_EFFORT
                     ") -> list[" METASAGE_NODES "]"),
             "Descend from routes to a local optimum.")
        .def("search", &RoutesImprover::search,
             nb::sig("def search(self, *, routes: list[" METASAGE_NODES
                     "], kicks: int | None, listener: " METASAGE_LISTENER ", " METASAGE_EFFORT
                     ") -> None"),
             "Improve routes; the listener is called with objectives, and False ends it.")
        .def_prop_ro("best", &RoutesImprover::best,
                     nb::sig("def best(self) -> list[" METASAGE_NODES "] | None"),
                     "Best routes of the last search, also while it goes on.");
}

}  // namespace metasage::improve
