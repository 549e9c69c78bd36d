#include "rollout/arguments.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace nb = nanobind;

namespace metasage {

namespace {

float positive(Arguments &arguments, const char *name) {
    const float value = arguments.number<float>(name);
    if (!(std::isfinite(value) && value > 0.0f)) refuse(std::string(name) + " has to be positive.");
    return value;
}

void read_adapter(Arguments &arguments, Decoder &decoder) {
    const nb::object adapter = arguments.optional("adapter");
    const nb::object place = arguments.optional("adapter_place");
    if (adapter.is_none()) return;
    nb::tuple parts;
    if (!nb::try_cast(adapter, parts) || parts.size() != 4)
        refuse("adapter has to be a tuple of w1, b1, w2 and b2.");
    // A layer of its own for each instance, or one for all.
    const Shape shape = Arguments::shape_of(parts[0], "adapter w1");
    decoder.adapter.shared = decoder.instances > 1 && !shape.empty() && shape[0] == 1;
    const int64_t b = decoder.adapter.shared ? 1 : decoder.instances, d = decoder.width;
    decoder.adapter.w1 = Arguments::array_of<const float>(parts[0], "adapter w1", {b, d, d});
    decoder.adapter.b1 = Arguments::array_of<const float>(parts[1], "adapter b1", {b, d});
    decoder.adapter.w2 = Arguments::array_of<const float>(parts[2], "adapter w2", {b, d, d});
    decoder.adapter.b2 = Arguments::array_of<const float>(parts[3], "adapter b2", {b, d});
    if (place.is_none()) refuse("adapter_place is needed with an adapter.");
    decoder.adapter.place =
        choose<AdapterPlace>(arguments, "adapter_place",
                             {{"before", AdapterPlace::before}, {"after", AdapterPlace::after}});
}

void read_fields(Arguments &arguments, Decoder &decoder) {
    nb::dict fields;
    const nb::object given = arguments.optional("fields");
    if (!given.is_none() && !nb::try_cast(given, fields)) refuse("fields has to be a dict.");
    const int64_t b = decoder.instances, n = decoder.nodes;
    const auto field = [&](const char *name) -> nb::object {
        if (!fields.contains(name)) refuse("fields lacks '" + std::string(name) + "'.");
        return fields[name];
    };
    if (decoder.problem == Problem::cvrp) {
        decoder.demand = Arguments::array_of<const float>(field("demand"), "demand", {b, n});
        decoder.capacity = Arguments::array_of<const float>(field("capacity"), "capacity", {b});
        constexpr float MOST = 1 << 23;  // a load and a demand still add up exactly
        for (int64_t i = 0; i < b * n; ++i) {
            const float capacity = decoder.capacity[i / n];
            if (!(capacity > 0.0f && capacity <= MOST))
                refuse("capacity " + std::to_string(capacity) + " is out of range.");
            if (!(decoder.demand[i] >= 0.0f && decoder.demand[i] <= capacity))
                refuse("demand " + std::to_string(decoder.demand[i]) + " of node " +
                       std::to_string(i % n) + " does not lie between 0 and the capacity.");
        }
    }
    if (decoder.problem == Problem::pctsp || decoder.problem == Problem::op)
        decoder.prize = Arguments::array_of<const double>(field("prize"), "prize", {b, n});
    if (decoder.problem == Problem::pctsp)
        decoder.penalty = Arguments::array_of<const double>(field("penalty"), "penalty", {b, n});
    if (decoder.problem == Problem::op) {
        decoder.lengths = Arguments::array_of<const double>(field("lengths"), "lengths", {b, n, n});
        decoder.max_length =
            Arguments::array_of<const double>(field("max_length"), "max_length", {b});
        decoder.scale = Arguments::array_of<const double>(field("scale"), "scale", {b});
    }
}

}  // namespace

Decoder read_decoder(Arguments &arguments) {
    Decoder decoder{};
    decoder.problem = choose<Problem>(arguments, "problem",
                                      {{"tsp", Problem::tsp},
                                       {"cvrp", Problem::cvrp},
                                       {"pctsp", Problem::pctsp},
                                       {"op", Problem::op}});
    const Shape shape = Arguments::shape_of(arguments.required("keys"), "keys");
    if (shape.size() != 3) refuse("keys has the shape " + to_text(shape) + " and not three axes.");
    const int64_t b = shape[0], n = shape[1], d = shape[2];
    if (arguments.number<int>("heads") != HEADS || (d != 64 && d != 128))
        refuse("the native engine needs 8 heads and a width of 64 or 128.");
    if (b < 1 || n < (decoder.problem == Problem::tsp ? 1 : 2) || n > 1 << 20)
        refuse("keys has the shape " + to_text(shape) + ": no instance of this problem has it.");
    decoder.instances = b;
    decoder.nodes = n;
    decoder.width = int(d);
    decoder.keys = arguments.array<float>("keys", {b, n, d});
    decoder.values = arguments.array<float>("values", {b, n, d});
    decoder.pointers = arguments.array<float>("pointers", {b, n, d});
    decoder.query_last = arguments.array<float>("query_last", {b, n, d});
    decoder.query_first = arguments.optional_array<float>("query_first", {b, n, d});
    decoder.query_scalar = arguments.optional_array<float>("query_scalar", {d});
    decoder.query_start = arguments.optional_array<float>("query_start", {b, d});
    decoder.combine_weight = arguments.array<float>("combine_weight", {d, d});
    decoder.combine_bias = arguments.optional_array<float>("combine_bias", {d});
    decoder.coords = arguments.array<float>("coords", {b, n, 2});
    decoder.skip = arguments.number<bool>("skip");
    const Shape glimpse{HEADS, 2}, pointer{2};
    decoder.glimpse_locality = arguments.optional_array<float>("glimpse_locality", glimpse);
    decoder.pointer_locality = arguments.optional_array<float>("pointer_locality", pointer);
    decoder.locality_inside = arguments.number<bool>("locality_inside");
    decoder.unit = arguments.optional_array<float>("unit", {b});
    if (decoder.has_locality() && decoder.unit == nullptr) refuse("unit is needed for locality.");
    for (int64_t i = 0; decoder.unit != nullptr && i < b; ++i)
        if (!(decoder.unit[i] > 0.0f)) refuse("unit has to be positive.");
    read_adapter(arguments, decoder);
    read_fields(arguments, decoder);
    decoder.clip = positive(arguments, "clip");
    decoder.temperature = positive(arguments, "temperature");
    const int kind = arguments.number<int>("bias_kind");
    if (kind < 0 || kind > 2) refuse("bias_kind has to be 0, 1 or 2.");
    decoder.bias = static_cast<Bias>(kind);
    decoder.bias_strength = arguments.number<float>("bias_strength");
    if (decoder.bias == Bias::inside && !(decoder.bias_strength >= 0.0f))
        refuse("bias_strength may not be negative inside tanh.");
    const nb::object sources = arguments.optional("edge_sources");
    if (!sources.is_none()) {
        decoder.edges = Arguments::shape_of(sources, "edge_sources").back();
        const Shape edges{b, decoder.edges};
        decoder.edge_sources = Arguments::array_of<const int32_t>(sources, "edge_sources", edges);
        decoder.edge_targets = arguments.array<int32_t>("edge_targets", edges);
        decoder.edge_bonuses = arguments.array<float>("edge_bonuses", edges);
        for (int64_t i = 0; i < b * decoder.edges; ++i) {
            const int32_t from = decoder.edge_sources[i], to = decoder.edge_targets[i];
            if (from < 0 || from >= n || to < 0 || to >= n ||
                (i % decoder.edges > 0 && from < decoder.edge_sources[i - 1]))
                refuse("the edges with bonuses have to join nodes and to be sorted by source.");
        }
    }
    if (!arguments.optional("neighbours").is_none()) {
        decoder.neighbours = std::min(arguments.number<int64_t>("neighbours"), n);
        if (decoder.neighbours < 1) refuse("neighbours has to be at least 1.");
    }
    decoder.threads = arguments.number<int>("threads");
    if (decoder.threads < 1) refuse("threads has to be at least 1.");
    return decoder;
}

RolloutRequest read_rollout_request(Arguments &arguments, const Decoder &decoder) {
    RolloutRequest task{};
    const int64_t b = decoder.instances, n = decoder.nodes;
    const bool tsp = decoder.problem == Problem::tsp;
    task.greedy = arguments.number<bool>("greedy");
    task.sampled = arguments.number<int64_t>("rollouts");
    task.offset = arguments.number<int64_t>("rollout_offset");
    if (task.sampled < 0 || task.offset < 0 || task.offset + task.sampled > int64_t(1) << 32)
        refuse("rollouts and rollout_offset have to lie between 0 and 2^32.");
    task.seeds = task.greedy ? arguments.optional_array<uint64_t>("seeds", {b})
                             : arguments.array<uint64_t>("seeds", {b});
    const nb::object starts = arguments.optional("starts");
    bool unforced = starts.is_none() && task.sampled > 0;
    if (!starts.is_none()) {
        task.starts = Arguments::array_of<const int32_t>(starts, "starts", {b, task.sampled, -1});
        task.given_steps = Arguments::shape_of(starts, "starts")[2];
        unforced = task.given_steps == 0;
        for (int64_t i = 0; i < b * task.sampled * task.given_steps; ++i) {
            if (task.starts[i] < -1 || task.starts[i] >= n)
                refuse("starts holds " + std::to_string(task.starts[i]) + ", which is no node.");
            unforced = unforced || task.starts[i] < 0;
        }
    }
    const nb::object forced = arguments.optional("forced");
    task.forced_first_scored = arguments.number<bool>("forced_first_scored");
    if (!forced.is_none()) {
        task.forced = Arguments::array_of<const int32_t>(forced, "forced", {b, -1, -1});
        const Shape shape = Arguments::shape_of(forced, "forced");
        task.num_forced = shape[1];
        task.forced_steps = shape[2] < decoder.most_steps() ? shape[2] : decoder.most_steps();
        task.forced_stride = shape[2];
        unforced = unforced || (task.num_forced > 0 && task.forced_first_scored);
    }
    if (task.total() < 1) refuse("there are no rollouts.");
    if (decoder.edges > 0 && task.num_forced > 0)
        refuse("edges have bonuses in rollouts that are chosen, not in given ones.");
    if (tsp && unforced && decoder.query_start == nullptr)
        refuse("query_start is needed for tours that are free to start anywhere.");

    const nb::object sums = arguments.optional("eta_sums");
    const nb::object centre = arguments.optional("centre");
    if (!sums.is_none()) {
        nb::tuple parts;
        if (!nb::try_cast(sums, parts) || parts.size() < 2 || parts.size() > 3)
            refuse("eta_sums has to be a tuple of two or three arrays.");
        if (!decoder.adapter.given()) refuse("eta_sums needs an adapter.");
        if (task.offset % BLOCK_OF_ROLLOUTS != 0)
            refuse("with eta_sums, rollout_offset has to be a multiple of " +
                   std::to_string(BLOCK_OF_ROLLOUTS) + ".");
        const Shape shape{b, decoder.eta_size()};
        task.weighted_sum = Arguments::array_of<double>(parts[0], "eta_sums", shape);
        task.plain_sum = Arguments::array_of<double>(parts[1], "eta_sums", shape);
        if (parts.size() == 3)
            task.forced_sum = Arguments::array_of<double>(parts[2], "eta_sums", shape);
        task.centre = arguments.array<double>("centre", {b});
    }
    task.patience = read_patience(arguments);
    return task;
}

GradientRequest read_gradient_request(Arguments &arguments, const Decoder &decoder) {
    GradientRequest task{};
    const int64_t b = decoder.instances;
    const nb::object actions = arguments.required("actions");
    task.actions = Arguments::array_of<const int32_t>(actions, "actions", {b, -1, -1});
    const Shape shape = Arguments::shape_of(actions, "actions");
    task.rollouts = shape[1];
    task.max_steps = shape[2];
    task.steps = arguments.array<int32_t>("steps", {b, task.rollouts});
    task.weights = arguments.array<float>("weights", {b, task.rollouts});
    task.first_scored = arguments.number<bool>("first_scored");
    const int64_t most = std::min(task.max_steps, decoder.most_steps());
    for (int64_t i = 0; i < b * task.rollouts; ++i)
        if (task.steps[i] < 0 || task.steps[i] > most)
            refuse("steps holds " + std::to_string(task.steps[i]) + " of at most " +
                   std::to_string(most) + ".");
    if (decoder.problem == Problem::tsp && task.first_scored && decoder.query_start == nullptr)
        refuse("query_start is needed to score first steps.");
    task.patience = read_patience(arguments);
    return task;
}

}  // namespace metasage
