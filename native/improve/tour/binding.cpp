// Python binding of the search of single tours.

#include "improve/arguments.h"
#include "improve/tour/search.h"

namespace nb = nanobind;

namespace metasage::improve {

namespace {

// An instance with its neighbour lists, which are made once.
class TourImprover {
public:
    explicit TourImprover(Arguments &arguments)
        : data_(arguments.required("data")), task_(read(arguments, data_)) {
        arguments.finish();
        for (const double penalty : task_.penalty) all_penalties_ += penalty;
    }

    nb::list construct(nb::kwargs values) {
        Arguments arguments(std::move(values));
        const Effort effort = read_effort(arguments);
        arguments.finish();
        std::vector<Found> found;
        {
            const nb::gil_scoped_release release;
            found = TourSearch(task_, effort).construct();
        }
        return arrays(found);
    }

    nb::list polish(nb::kwargs values) {
        Arguments arguments(std::move(values));
        const Tours starts = read_tours(arguments);
        const Effort effort = read_effort(arguments);
        arguments.finish();
        std::vector<Found> found;
        {
            const nb::gil_scoped_release release;
            found = TourSearch(task_, effort).polish(starts);
        }
        return arrays(found);
    }

    void search(nb::kwargs values) {
        Arguments arguments(std::move(values));
        const Tours starts = read_tours(arguments);
        if (starts.empty()) refuse("there is no tour to start from.");
        const nb::object listener = arguments.optional("listener");
        const Effort effort = read_effort(arguments);
        arguments.finish();
        best_ = {};
        {
            const nb::gil_scoped_release release;
            TourSearch(task_, effort).run(starts, [&](const Found &found) {
                best_ = found;
                return tell(listener, objective(found.totals));
            });
        }
        if (PyErr_Occurred()) throw nb::python_error();
    }

    nb::object best() const { return best_.order.empty() ? nb::none() : to_array(best_.order); }

private:
    static TourTask read(Arguments &arguments, nb::handle data) {
        const auto goal = choose<Goal>(
            arguments, "problem",
            {{"tsp", Goal::shortest}, {"pctsp", Goal::least_cost}, {"op", Goal::most_prize}});
        Lengths lengths = read_lengths(arguments, data);
        const int64_t nodes = lengths.nodes();
        std::vector<double> prize, penalty;
        double bound = 0.0;
        const auto numbers = [&](const char *name) {
            const double *from = arguments.array<double>(name, {nodes});
            return std::vector<double>(from, from + nodes);
        };
        if (goal != Goal::shortest) {
            prize = numbers("prize");
            bound = arguments.number<double>("bound");
        }
        if (goal == Goal::least_cost) penalty = numbers("penalty");
        return TourTask(goal, std::move(lengths), std::move(prize), std::move(penalty), bound);
    }

    Tours read_tours(Arguments &arguments) const {
        Tours tours;
        const int nodes = task_.lengths.nodes();
        for (const nb::handle one : nb::list(arguments.required("tours"))) {
            const int32_t *from = Arguments::array_of<const int32_t>(one, "tours", {-1});
            tours.emplace_back(from, from + Arguments::shape_of(one, "tours")[0]);
            std::vector<char> seen(nodes, 0);
            for (const int node : tours.back()) {
                if (node < 0 || node >= nodes || seen[node])
                    refuse("node " + std::to_string(node) + " of a tour is not there, or twice.");
                seen[node] = 1;
            }
            if (task_.selective() ? !seen[0] : int(tours.back().size()) < nodes)
                refuse("a tour lacks a node.");
        }
        return tours;
    }

    double objective(const Totals &totals) const {
        return task_.goal == Goal::most_prize ? totals.prize
                                              : totals.length + all_penalties_ - totals.penalty;
    }

    static nb::list arrays(const std::vector<Found> &found) {
        if (PyErr_Occurred()) throw nb::python_error();
        nb::list result;
        for (const Found &one : found) result.append(to_array(one.order));
        return result;
    }

    nb::object data_;  // a matrix is used where it lies
    TourTask task_;
    double all_penalties_ = 0.0;
    Found best_;
};

}  // namespace

void bind(nb::module_ &module) {
    nb::class_<TourImprover>(
        module, "TourImprover",
        R"(Local search of one instance of TSP, PCTSP or OP, with its neighbour lists.

Lengths are described by measure, rounding and data: coordinates, or a matrix. Tours are
arrays of nodes, with the depot if there is one.)")
        .def(nb::new_([](nb::kwargs values) {
            Arguments arguments(std::move(values));
            return new TourImprover(arguments);
        }))
        .def("construct", &TourImprover::construct,
             nb::sig("def construct(self, *, " METASAGE_EFFORT ") -> list[" METASAGE_NODES "]"),
             "Make tours to start from.")
        .def("polish", &TourImprover::polish,
             nb::sig("def polish(self, *, tours: list[" METASAGE_NODES "], " METASAGE_EFFORT
                     ") -> list[" METASAGE_NODES "]"),
             "Descend from each tour to a local optimum.")
        .def("search", &TourImprover::search,
             nb::sig("def search(self, *, tours: list[" METASAGE_NODES
                     "], kicks: int | None, listener: " METASAGE_LISTENER ", " METASAGE_EFFORT
                     ") -> None"),
             "Improve tours; the listener is called with objectives, and False ends it.")
        .def_prop_ro("best", &TourImprover::best,
                     nb::sig("def best(self) -> " METASAGE_NODES " | None"),
                     "Best tours of the last search, also while it goes on.");
    bind_routes(module);
}

}  // namespace metasage::improve
