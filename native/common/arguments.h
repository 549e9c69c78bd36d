// Keyword arguments from Python, checked before a kernel sees them.

#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/patience.h"

namespace metasage {

using Shape = std::vector<int64_t>;

[[noreturn]] void refuse(const std::string &sentence);

// Numbers of a network with which nothing can be computed: metasage.errors.NotFinite in Python.
struct NotFinite : std::runtime_error {
    using std::runtime_error::runtime_error;
};
std::string to_text(const Shape &shape);

class Arguments {
public:
    explicit Arguments(nanobind::kwargs values) : values_(std::move(values)) {}

    // An argument that has to be there, or None where it is left out.
    nanobind::object required(const char *name);
    nanobind::object optional(const char *name);

    template <class T>
    T number(const char *name) {
        const nanobind::object value = required(name);
        T result;
        if (!nanobind::try_cast(value, result))
            throw std::invalid_argument(std::string(name) + " has to be a " +
                                        (std::is_integral_v<T> ? "whole number." : "number."));
        return result;
    }

    template <class T>
    const T *array(const char *name, const Shape &shape) {
        return array_of<const T>(required(name), name, shape);
    }
    template <class T>
    const T *optional_array(const char *name, const Shape &shape) {
        const nanobind::object value = optional(name);
        return value.is_none() ? nullptr : array_of<const T>(value, name, shape);
    }

    // The memory of a C-contiguous array; -1 in a shape stands for any size.
    template <class T>
    static T *array_of(nanobind::handle value, const std::string &name, const Shape &shape) {
        nanobind::ndarray<T, nanobind::c_contig, nanobind::device::cpu> array;
        if (!nanobind::try_cast(value, array, false))
            throw std::invalid_argument(name + " has to be a C-contiguous array of " +
                                        type_name<std::remove_const_t<T>>() + ".");
        Shape found;
        for (size_t i = 0; i < array.ndim(); ++i) found.push_back(int64_t(array.shape(i)));
        check_shape(name, found, shape);
        if constexpr (std::is_same_v<T, const float>)
            check_finite(name, array.data(), array.size());
        return array.data();
    }

    static Shape shape_of(nanobind::handle value, const std::string &name);

    // Refuses arguments that nobody asked for.
    void finish() const;

private:
    template <class T>
    static std::string type_name() {
        const std::string bits = std::to_string(8 * sizeof(T));
        if constexpr (std::is_floating_point_v<T>) return "float" + bits;
        return (std::is_signed_v<T> ? "int" : "uint") + bits;
    }

    // A network that has diverged would otherwise go unnoticed.
    static void check_finite(const std::string &name, const float *numbers, size_t count);
    static void check_shape(const std::string &name, const Shape &found, const Shape &expected);

    nanobind::kwargs values_;
    std::set<std::string> known_;
};

// One of several values, by its name.
template <class Value>
Value choose(Arguments &arguments, const char *name,
             const std::vector<std::pair<const char *, Value>> &values) {
    std::string given, all;
    if (!nanobind::try_cast(arguments.required(name), given))
        refuse(std::string(name) + " has to be a text.");
    for (const auto &[text, value] : values) {
        if (given == text) return value;
        all += std::string(all.empty() ? "" : ", ") + text;
    }
    refuse(std::string(name) + " is '" + given + "' and must be one of " + all + ".");
}

// A new numpy array of zeros, and its memory.
template <class T>
nanobind::object zeros(const Shape &shape, T *&data) {
    size_t size = 1;
    const std::vector<size_t> sizes(shape.begin(), shape.end());
    for (const size_t n : sizes) size *= n;
    data = new T[size]();
    const nanobind::capsule owner(data, [](void *p) noexcept { delete[] static_cast<T *>(p); });
    return nanobind::cast(
        nanobind::ndarray<nanobind::numpy, T>(data, sizes.size(), sizes.data(), owner));
}

// Deadline (`seconds_left`), the user's function (`stopped`) and signals.
Patience read_patience(Arguments &arguments);

}  // namespace metasage
