#include "improve/arguments.h"

namespace nb = nanobind;

namespace metasage::improve {

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

Effort read_effort(Arguments &arguments) {
    Effort effort{arguments.number<int>("threads"), arguments.number<uint64_t>("seed"), -1,
                  read_patience(arguments)};
    if (effort.threads < 1) refuse("threads has to be at least 1.");
    if (!arguments.optional("kicks").is_none()) {
        effort.kicks = arguments.number<int64_t>("kicks");
        if (effort.kicks < 0) refuse("kicks has to be at least 0.");
    }
    return effort;
}

bool tell(const nb::object &listener, double objective) {
    if (listener.is_none()) return true;
    const nb::gil_scoped_acquire acquire;
    // An interrupt may have ended the round.
    if (PyErr_Occurred()) return false;
    try {
        return !listener(objective).is(nb::handle(Py_False));
    } catch (nb::python_error &error) {
        error.restore();
        return false;
    }
}

nb::object to_array(const std::vector<int> &order) {
    int32_t *data;
    nb::object result = zeros({int64_t(order.size())}, data);
    std::copy(order.begin(), order.end(), data);
    return result;
}

}  // namespace metasage::improve
