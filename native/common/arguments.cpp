#include "common/arguments.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace nb = nanobind;

namespace metasage {

std::string to_text(const Shape &shape) {
    std::string result = "(";
    for (size_t i = 0; i < shape.size(); ++i)
        result += (i ? ", " : "") + (shape[i] < 0 ? std::string("any") : std::to_string(shape[i]));
    return result + ")";
}

void refuse(const std::string &sentence) { throw std::invalid_argument(sentence); }

nb::object Arguments::required(const char *name) {
    nb::object value = optional(name);
    if (value.is_none()) refuse(std::string(name) + " is needed.");
    return value;
}

nb::object Arguments::optional(const char *name) {
    known_.insert(name);
    return values_.contains(name) ? nb::object(values_[name]) : nb::none();
}

Shape Arguments::shape_of(nb::handle value, const std::string &name) {
    nb::ndarray<nb::ro> array;
    if (!nb::try_cast(value, array, false)) refuse(name + " has to be an array.");
    Shape shape;
    for (size_t i = 0; i < array.ndim(); ++i) shape.push_back(int64_t(array.shape(i)));
    return shape;
}

void Arguments::check_finite(const std::string &name, const float *numbers, size_t count) {
    constexpr int32_t SIGN = int32_t(1u << 31), INFINITE = 0x7f800000;
    int32_t largest = 0;
    for (size_t i = 0; i < count; ++i) {
        int32_t bits;
        std::memcpy(&bits, numbers + i, sizeof(bits));
        largest = std::max(largest, bits & ~SIGN);
    }
    if (largest >= INFINITE) throw NotFinite(name + " holds numbers that are not finite.");
}

void Arguments::check_shape(const std::string &name, const Shape &found, const Shape &expected) {
    bool same = found.size() == expected.size();
    for (size_t i = 0; same && i < found.size(); ++i)
        same = expected[i] < 0 || found[i] == expected[i];
    if (!same)
        refuse(name + " has the shape " + to_text(found) + " and not " + to_text(expected) + ".");
}

void Arguments::finish() const {
    for (const auto &[name, value] : values_)
        if (known_.count(nb::cast<std::string>(name)) == 0)
            refuse("there is no argument '" + nb::cast<std::string>(name) + "'.");
}

// Also lets signals through; what their handlers or the user's function raise ends the
// kernel with an error of Python's.
Patience read_patience(Arguments &arguments) {
    Patience patience;
    const PyObject *function = arguments.optional("stopped").ptr();
    patience.stopped = [function] {
        const nb::gil_scoped_acquire acquire;
        if (PyErr_Occurred() || PyErr_CheckSignals() != 0) return true;
        if (function == Py_None) return false;
        PyObject *answer = PyObject_CallNoArgs(const_cast<PyObject *>(function));
        const int stops = answer == nullptr ? -1 : PyObject_IsTrue(answer);
        Py_XDECREF(answer);
        return stops != 0;
    };
    if (!arguments.optional("seconds_left").is_none()) {
        // More than a year would overflow the clock.
        const double left = std::fmin(arguments.number<double>("seconds_left"), 3e7);
        patience.has_deadline = true;
        patience.deadline =
            Patience::Clock::now() + std::chrono::duration_cast<Patience::Clock::duration>(
                                         std::chrono::duration<double>(left));
    }
    return patience;
}

}  // namespace metasage
