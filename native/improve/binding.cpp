// Python binding of the local search.

#include <nanobind/stl/string.h>

#include "../arguments.h"
#include "savings.h"
#include "search.h"

namespace nb = nanobind;

namespace metasage::improve {

namespace {

[[noreturn]] void refuse(const std::string &message) { throw std::invalid_argument(message); }

template <class Value>
Value choose(Arguments &arguments, const char *name,
             const std::vector<std::pair<const char *, Value>> &values) {
    std::string given, all;
    if (!nb::try_cast(arguments.required(name), given))
        refuse(std::string(name) + " has to be a text.");
    for (const auto &[text, value] : values) {
        if (given == text) return value;
        all += std::string(all.empty() ? "" : ", ") + text;
    }
    refuse(std::string(name) + " is '" + given + "' and must be one of " + all + ".");
}

Lengths read_lengths(Arguments &arguments, nb::handle data) {
    const auto measure = choose<Measure>(arguments, "measure",
                                         {{"EXPLICIT", Measure::matrix},
                                          {"EXACT_2D", Measure::euclidean},
                                          {"EUC_2D", Measure::euclidean},
                                          {"CEIL_2D", Measure::euclidean},
                                          {"FLOOR_2D", Measure::euclidean},
                                          {"MAN_2D", Measure::manhattan},
                                          {"MAX_2D", Measure::maximum},
                                          {"ATT", Measure::pseudo_euclidean},
                                          {"GEO", Measure::geographical}});
    const auto rounding = choose<Rounding>(arguments, "rounding",
                                           {{"none", Rounding::none},
                                            {"nearest", Rounding::nearest},
                                            {"up", Rounding::up},
                                            {"down", Rounding::down}});
    const int64_t nodes = Arguments::shape_of(data, "data").at(0);
    const double *memory = Arguments::array_of<const double>(
        data, "data", {nodes, measure == Measure::matrix ? nodes : 2});
    if (nodes < 1 || nodes > INT32_MAX / 2) refuse("there has to be at least one node.");
    return Lengths(int(nodes), measure, rounding, memory);
}

nb::object to_array(const std::vector<int> &order) {
    int32_t *data;
    nb::object result = zeros({int64_t(order.size())}, data);
    std::copy(order.begin(), order.end(), data);
    return result;
}

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
            found = Search(task_, effort).construct();
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
            found = Search(task_, effort).polish(starts);
        }
        return arrays(found);
    }

    void search(nb::kwargs values) {
        Arguments arguments(std::move(values));
        const Tours starts = read_tours(arguments);
        if (starts.empty()) refuse("there is no tour to start from.");
        const nb::object kicks = arguments.optional("kicks");
        const nb::object listener = arguments.optional("listener");
        Effort effort = read_effort(arguments);
        if (!kicks.is_none()) {
            effort.kicks = arguments.number<int64_t>("kicks");
            if (effort.kicks < 0) refuse("kicks has to be at least 0.");
        }
        arguments.finish();
        best_ = {};
        {
            const nb::gil_scoped_release release;
            Search(task_, effort).run(starts, [&](const Found &found) {
                best_ = found;
                return listener.is_none() || tell(listener, found.totals);
            });
        }
        if (PyErr_Occurred()) throw nb::python_error();
    }

    nb::object best() const { return best_.order.empty() ? nb::none() : to_array(best_.order); }

private:
    static Task read(Arguments &arguments, nb::handle data) {
        const auto goal = choose<Goal>(arguments, "problem",
                                       {{"tsp", Goal::shortest},
                                        {"pctsp", Goal::least_cost},
                                        {"op", Goal::most_prize}});
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
        return Task(goal, std::move(lengths), std::move(prize), std::move(penalty), bound);
    }

    static Effort read_effort(Arguments &arguments) {
        Effort effort{arguments.number<int>("threads"), arguments.number<uint64_t>("seed"), -1,
                      read_patience(arguments)};
        if (effort.threads < 1) refuse("threads has to be at least 1.");
        return effort;
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

    // Calls the listener; an error of its own ends the search.
    bool tell(const nb::object &listener, const Totals &totals) const {
        const nb::gil_scoped_acquire acquire;
        // An interrupt may have ended the round.
        if (PyErr_Occurred()) return false;
        try {
            const bool most_prize = task_.goal == Goal::most_prize;
            listener(most_prize ? totals.prize
                                : totals.length + all_penalties_ - totals.penalty);
        } catch (nb::python_error &error) {
            error.restore();
            return false;
        }
        return true;
    }

    static nb::list arrays(const std::vector<Found> &found) {
        if (PyErr_Occurred()) throw nb::python_error();
        nb::list result;
        for (const Found &one : found) result.append(to_array(one.order));
        return result;
    }

    nb::object data_;  // a matrix is used where it lies
    Task task_;
    double all_penalties_ = 0.0;
    Found best_;
};

nb::list savings(nb::kwargs values) {
    Arguments arguments(std::move(values));
    const nb::object data = arguments.required("data");
    const Lengths lengths = read_lengths(arguments, data);
    const int64_t *demand = arguments.array<int64_t>("demand", {int64_t(lengths.nodes())});
    const auto capacity = arguments.number<int64_t>("capacity");
    Savings routes(lengths, {demand, demand + lengths.nodes()}, capacity);
    arguments.finish();
    nb::list result;
    for (const std::vector<int> &route : routes.build()) result.append(to_array(route));
    return result;
}

}  // namespace

void bind(nb::module_ &module) {
    nb::class_<TourImprover>(module, "TourImprover")
        .def(nb::new_([](nb::kwargs values) {
            Arguments arguments(std::move(values));
            return new TourImprover(arguments);
        }))
        .def("construct", &TourImprover::construct, "Tours to start from.")
        .def("polish", &TourImprover::polish, "Descend from each tour to a local optimum.")
        .def("search", &TourImprover::search, "Improve the best of some tours.")
        .def_prop_ro("best", &TourImprover::best, "Best tour of the last search.");
    module.def("savings", &savings, "First routes of a CVRP.");
}

}  // namespace metasage::improve
