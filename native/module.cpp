// Python binding of the native engine.

#include <nanobind/nanobind.h>

#include <algorithm>

#include "rollout/arguments.h"

namespace nb = nanobind;

namespace metasage {

namespace improve {
void bind(nb::module_ &module);
}

namespace {

void raise_if_any(const Fault &fault) {
    const std::string rollout = "rollout " + std::to_string(fault.rollout) + " of instance " +
                                std::to_string(fault.instance);
    const std::string step = std::to_string(fault.step), node = std::to_string(fault.node);
    switch (fault.kind) {
        case Fault::none:
            return;
        case Fault::forbidden:
            throw std::invalid_argument(rollout + " may not go to node " + node + " at step " +
                                        step + ".");
        case Fault::incomplete:
            throw std::invalid_argument(rollout + " is not complete after " + step + " steps.");
        case Fault::undefined:
            throw NotFinite(rollout + " has no probabilities at step " + step + ".");
    }
}

// Lets C++'s NotFinite arrive in Python as the class of the same name.
void translate(const std::exception_ptr &thrown, void *python_class) {
    try {
        std::rethrow_exception(thrown);
    } catch (const NotFinite &error) {
        PyErr_SetString(static_cast<PyObject *>(python_class), error.what());
    }
}

nb::dict rollout(nb::kwargs values) {
    Arguments arguments(std::move(values));
    const Decoder decoder = read_decoder(arguments);
    RolloutRequest task = read_rollout_request(arguments, decoder);
    arguments.finish();
    const int64_t b = decoder.instances, rollouts = task.total(), most = decoder.most_steps();
    nb::dict result;
    result["log_likelihood"] = zeros({b, rollouts}, task.log_likelihood);
    result["cost"] = zeros({b, rollouts}, task.cost);
    result["steps"] = zeros({b, rollouts}, task.steps);
    const Kernel &chosen = kernel();
    std::vector<int32_t> actions(b * rollouts * most);
    task.actions = actions.data();
    {
        const nb::gil_scoped_release release;
        chosen.rollout(decoder, task);
    }
    if (PyErr_Occurred()) throw nb::python_error();
    raise_if_any(task.fault);
    const int64_t longest = *std::max_element(task.steps, task.steps + b * rollouts);
    int32_t *trimmed;
    result["actions"] = zeros({b, rollouts, longest}, trimmed);
    for (int64_t i = 0; i < b * rollouts; ++i)
        std::copy_n(actions.data() + i * most, task.steps[i], trimmed + i * longest);
    result["finished"] = task.finished;
    return result;
}

nb::dict backward(nb::kwargs values) {
    Arguments arguments(std::move(values));
    const Decoder decoder = read_decoder(arguments);
    GradientRequest task = read_gradient_request(arguments, decoder);
    arguments.finish();
    const int64_t b = decoder.instances, n = decoder.nodes, d = decoder.width;
    nb::dict result;
    const auto add = [&](const char *name, const void *input, const Shape &shape, float *&data) {
        if (input != nullptr) result[name] = zeros(shape, data);
    };
    add("keys", decoder.keys, {b, n, d}, task.keys);
    add("values", decoder.values, {b, n, d}, task.values);
    add("pointers", decoder.pointers, {b, n, d}, task.pointers);
    add("query_last", decoder.query_last, {b, n, d}, task.query_last);
    add("query_first", decoder.query_first, {b, n, d}, task.query_first);
    add("query_scalar", decoder.query_scalar, {d}, task.query_scalar);
    add("query_start", decoder.query_start, {b, d}, task.query_start);
    add("combine_weight", decoder.combine_weight, {d, d}, task.combine_weight);
    add("combine_bias", decoder.combine_bias, {d}, task.combine_bias);
    const int64_t layers = decoder.adapter.shared ? 1 : b;
    add("w1", decoder.adapter.w1, {layers, d, d}, task.w1);
    add("b1", decoder.adapter.b1, {layers, d}, task.b1);
    add("w2", decoder.adapter.w2, {layers, d, d}, task.w2);
    add("b2", decoder.adapter.b2, {layers, d}, task.b2);
    add("glimpse_locality", decoder.glimpse_locality, {HEADS, 2}, task.glimpse_locality);
    add("pointer_locality", decoder.pointer_locality, {2}, task.pointer_locality);
    result["log_likelihood"] = zeros({b, task.rollouts}, task.log_likelihood);
    const Kernel &chosen = kernel();
    {
        const nb::gil_scoped_release release;
        chosen.backward(decoder, task);
    }
    if (PyErr_Occurred()) throw nb::python_error();
    raise_if_any(task.fault);
    result["finished"] = task.finished;
    return result;
}

Norm read_norm(Arguments &arguments, Shape &shape) {
    Norm norm{};
    shape = Arguments::shape_of(arguments.required("x"), "x");
    if (shape.size() != 3 || shape[1] < 1) throw std::invalid_argument("x has to have three axes.");
    norm.instances = shape[0];
    norm.nodes = shape[1];
    norm.width = shape[2];
    norm.x = arguments.array<float>("x", shape);
    norm.weight = arguments.array<float>("weight", {shape[2]});
    norm.threads = arguments.number<int>("threads");
    if (norm.threads < 1) throw std::invalid_argument("threads has to be at least 1.");
    return norm;
}

nb::tuple norm_forward(nb::kwargs values) {
    Arguments arguments(std::move(values));
    Shape shape;
    Norm norm = read_norm(arguments, shape);
    norm.bias = arguments.array<float>("bias", {shape[2]});
    arguments.finish();
    const nb::object y = zeros(shape, norm.y), mean = zeros({shape[0], shape[2]}, norm.mean);
    const nb::object scale = zeros({shape[0], shape[2]}, norm.scale);
    {
        const nb::gil_scoped_release release;
        kernel().norm_forward(norm);
    }
    return nb::make_tuple(y, mean, scale);
}

nb::tuple norm_backward(nb::kwargs values) {
    Arguments arguments(std::move(values));
    Shape shape;
    Norm norm = read_norm(arguments, shape);
    norm.mean = const_cast<float *>(arguments.array<float>("mean", {shape[0], shape[2]}));
    norm.scale = const_cast<float *>(arguments.array<float>("scale", {shape[0], shape[2]}));
    norm.gradient = arguments.array<float>("gradient", shape);
    arguments.finish();
    const nb::object x = zeros(shape, norm.y);
    const nb::object weight = zeros({shape[2]}, norm.weight_gradient);
    const nb::object bias = zeros({shape[2]}, norm.bias_gradient);
    {
        const nb::gil_scoped_release release;
        kernel().norm_backward(norm);
    }
    return nb::make_tuple(x, weight, bias);
}

SelfAttention read_attention(Arguments &arguments, Shape &shape) {
    SelfAttention task{};
    shape = Arguments::shape_of(arguments.required("query_key_value"), "query_key_value");
    if (shape.size() != 3 || shape[1] < 1 || (shape[2] != 3 * 64 && shape[2] != 3 * 128))
        throw std::invalid_argument(
            "query_key_value has to have three axes, the last three times 64 or 128.");
    task.instances = shape[0];
    task.nodes = shape[1];
    task.width = shape[2] / 3;
    task.query_key_value = arguments.array<float>("query_key_value", shape);
    task.coords = arguments.array<float>("coords", {shape[0], shape[1], 2});
    task.unit = arguments.array<float>("unit", {shape[0]});
    task.strengths = arguments.optional_array<float>("strengths", {HEADS, 2});
    task.has_depot = arguments.number<bool>("has_depot");
    task.threads = arguments.number<int>("threads");
    if (task.threads < 1) throw std::invalid_argument("threads has to be at least 1.");
    return task;
}

nb::object attention_forward(nb::kwargs values) {
    Arguments arguments(std::move(values));
    Shape shape;
    SelfAttention task = read_attention(arguments, shape);
    arguments.finish();
    nb::object glimpse = zeros({shape[0], shape[1], task.width}, task.glimpse);
    {
        const nb::gil_scoped_release release;
        kernel().attention_forward(task);
    }
    return glimpse;
}

nb::tuple attention_backward(nb::kwargs values) {
    Arguments arguments(std::move(values));
    Shape shape;
    SelfAttention task = read_attention(arguments, shape);
    task.gradient = arguments.array<float>("gradient", {shape[0], shape[1], task.width});
    arguments.finish();
    const nb::object query_key_value = zeros(shape, task.query_key_value_gradient);
    const nb::object strengths = zeros({HEADS, 2}, task.strengths_gradient);
    {
        const nb::gil_scoped_release release;
        kernel().attention_backward(task);
    }
    return nb::make_tuple(query_key_value, strengths);
}

}  // namespace

}  // namespace metasage

#define FLOATS "numpy.typing.NDArray[numpy.float32]"

NB_MODULE(_native, module) {
    module.doc() = "Rollout kernels of metasage.";
    // What a program still holds when it ends, such as an error's traceback, is no leak.
    nb::set_leak_warnings(false);
    module.attr("block") = metasage::BLOCK_OF_ROLLOUTS;
    nb::object not_finite = nb::module_::import_("metasage.errors").attr("NotFinite");
    nb::register_exception_translator(metasage::translate, not_finite.release().ptr());
    // Signatures are what the stub metasage/_native.pyi is made of.
    module.def("rollout", &metasage::rollout,
               nb::sig("def rollout(**arguments: typing.Any) -> dict[str, typing.Any]"),
               "Construct or score rollouts of many instances; all arguments by keyword.");
    module.def("backward", &metasage::backward,
               nb::sig("def backward(**arguments: typing.Any) -> dict[str, typing.Any]"),
               "Gradients of weighted log-likelihoods by the decoder's inputs.");
    module.def("norm_forward", &metasage::norm_forward,
               nb::sig("def norm_forward(*, x: " FLOATS ", weight: " FLOATS ", bias: " FLOATS
                       ", threads: int) -> tuple[" FLOATS ", " FLOATS ", " FLOATS "]"),
               "Instance norm of embeddings; also returns mean and scale.");
    module.def("norm_backward", &metasage::norm_backward,
               nb::sig("def norm_backward(*, x: " FLOATS ", weight: " FLOATS ", mean: " FLOATS
                       ", scale: " FLOATS ", gradient: " FLOATS ", threads: int) -> tuple[" FLOATS
                       ", " FLOATS ", " FLOATS "]"),
               "Gradients of the instance norm by embeddings, weight and bias.");
    module.def("attention_forward", &metasage::attention_forward,
               nb::sig("def attention_forward(**arguments: typing.Any) -> " FLOATS),
               "Attention of nodes to each other, which may prefer near ones.");
    module.def(
        "attention_backward", &metasage::attention_backward,
        nb::sig("def attention_backward(**arguments: typing.Any) -> tuple[" FLOATS ", " FLOATS "]"),
        "Gradients of the nodes' attention by its rows and strengths.");
    metasage::improve::bind(module);
    module.def(
        "simd", [] { return metasage::kernel().name; }, "Name of the instruction set in use.");
}
