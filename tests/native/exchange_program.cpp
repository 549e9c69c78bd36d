// Exchanges edges of tours and compares what comes out with the edges that were asked for.

#define METASAGE_LEVEL improve

#include <algorithm>
#include <numeric>

#include "improve/random.h"
#include "improve/tour/exchange.h"
#include "require.h"

using namespace metasage::improve;

namespace {

using Edge = std::pair<int, int>;
using Edges = std::vector<Edge>;

Edge edge(int a, int b) { return {std::min(a, b), std::max(a, b)}; }

Edges edges_of(const std::vector<int> &order) {
    Edges edges;
    for (size_t i = 0; i < order.size(); ++i)
        edges.push_back(edge(order[i], order[(i + 1) % order.size()]));
    std::sort(edges.begin(), edges.end());
    return edges;
}

// The edges of a tour without those that leave and with those that come.
Edges edges_after(const std::vector<int> &order, const Exchange &exchange) {
    Edges edges = edges_of(order);
    for (int i = 0; i < 2 * exchange.edges; i += 2) {
        const Edge leaving = edge(exchange.ends[i], exchange.ends[i + 1]);
        edges.erase(std::find(edges.begin(), edges.end(), leaving));
    }
    for (int i = 0; i < 2 * exchange.edges; ++i)
        if (i < exchange.partner[i])
            edges.push_back(edge(exchange.ends[i], exchange.ends[exchange.partner[i]]));
    std::sort(edges.begin(), edges.end());
    return edges;
}

// Whether edges of which every node has two ends are one cycle: whether all nodes hang together.
bool is_one_cycle(const Edges &edges, const std::vector<int> &order) {
    std::vector<int> reached{order[0]};
    for (size_t i = 0; i < reached.size(); ++i)
        for (const Edge &one : edges) {
            if (one.first != reached[i] && one.second != reached[i]) continue;
            const int other = one.first == reached[i] ? one.second : one.first;
            if (std::count(reached.begin(), reached.end(), other) == 0) reached.push_back(other);
        }
    return reached.size() == order.size();
}

void shuffle(std::vector<int> &numbers, Random &random) {
    for (int i = int(numbers.size()); i > 1; --i)
        std::swap(numbers[i - 1], numbers[random.below(i)]);
}

// A tour of some of the nodes there are, in any order.
Tour random_tour(int size, Random &random) {
    std::vector<int> nodes(size + random.below(3));
    std::iota(nodes.begin(), nodes.end(), 0);
    shuffle(nodes, random);
    Tour tour(int(nodes.size()));
    nodes.resize(size);
    tour.assign(nodes);
    return tour;
}

// Names the edges after the given positions as those that leave, in any sequence and direction.
void leave(Exchange &exchange, const Tour &tour, std::vector<int> positions, Random &random) {
    shuffle(positions, random);
    exchange.edges = int(positions.size());
    for (int i = 0; i < exchange.edges; ++i) {
        const int node = tour.at(positions[i]), turned = random.below(2);
        exchange.ends[2 * i + turned] = node;
        exchange.ends[2 * i + 1 - turned] = tour.next(node);
    }
}

// Nodes of the longest part between edges that leave.
int longest_part(std::vector<int> positions, int size) {
    std::sort(positions.begin(), positions.end());
    int longest = positions.front() + size - positions.back();
    for (size_t i = 1; i < positions.size(); ++i)
        longest = std::max(longest, positions[i] - positions[i - 1]);
    return longest;
}

// Returns whether the exchange keeps one tour, after it was carried out and taken back.
bool check(Exchange &exchange, Tour &tour, const std::vector<int> &positions) {
    const std::vector<int> order = tour.order();
    const Edges wanted = edges_after(order, exchange);
    const bool one = is_one_cycle(wanted, order);
    require(exchange.keeps_one_tour(tour) == one, "%d of %d edges: one tour or not", exchange.edges,
            tour.size());
    require(tour.order() == order, "the question changed the tour");
    if (!one) return false;
    exchange.apply(tour);
    require(edges_of(tour.order()) == wanted, "%d of %d edges: other edges than asked for",
            exchange.edges, tour.size());
    int unmoved = 0;
    for (int i = 0; i < tour.size(); ++i) unmoved += tour.at(i) == order[i];
    require(unmoved >= longest_part(positions, tour.size()), "the longest part moved");
    tour.undo();
    require(tour.order() == order, "the exchange was not taken back");
    return true;
}

// Joins the ends in all ways, the first free one with each other; returns how many keep one tour.
int try_all_joins(Exchange &exchange, Tour &tour, const std::vector<int> &positions,
                  std::vector<int> &free) {
    if (free.empty()) return check(exchange, tour, positions);
    int kept = 0;
    for (size_t other = 1; other < free.size(); ++other) {
        exchange.join(free[0], free[other]);
        std::vector<int> rest(free.begin() + 1, free.end());
        rest.erase(rest.begin() + other - 1);
        kept += try_all_joins(exchange, tour, positions, rest);
    }
    return kept;
}

// All exchanges of small tours.
void try_all(int size, int edges, Random &random) {
    // The parts in a circle, each either way: so many ways there are to join them to one tour.
    const int ways[] = {0, 1, 2, 8, 48, 384};
    for (int chosen = 0; chosen < 1 << size; ++chosen) {
        std::vector<int> positions, free(2 * edges);
        for (int i = 0; i < size; ++i)
            if (chosen >> i & 1) positions.push_back(i);
        if (int(positions.size()) != edges) continue;
        std::iota(free.begin(), free.end(), 0);
        Tour tour = random_tour(size, random);
        Exchange exchange;
        leave(exchange, tour, positions, random);
        const int kept = try_all_joins(exchange, tour, positions, free);
        require(kept == ways[edges], "%d of %d edges: %d instead of %d ways to one tour", edges,
                size, kept, ways[edges]);
    }
}

// Exchanges of larger tours, each carried out after the other.
void try_some(Random &random) {
    const int size = 8 + random.below(60);
    Tour tour = random_tour(size, random);
    Exchange exchange;
    for (int i = 0; i < 300; ++i) {
        // Some lie close together, so that parts of one node and of the array's end occur.
        const int range = random.below(2) == 0 ? size : 8, first = random.below(size);
        std::vector<int> all(range), ends;
        std::iota(all.begin(), all.end(), first);
        shuffle(all, random);
        all.resize(1 + random.below(Exchange::MOST));
        for (int &position : all) position %= size;
        leave(exchange, tour, all, random);
        if (random.below(2) == 0) {
            exchange.join_in_sequence();
            const int count = 2 * exchange.edges;
            for (int end = 1; end < count; end += 2)
                require(exchange.partner[end] == (end + 1) % count &&
                            exchange.partner[(end + 1) % count] == end,
                        "end %d has another partner than the sequence says", end);
        } else {
            ends.resize(2 * exchange.edges);
            std::iota(ends.begin(), ends.end(), 0);
            shuffle(ends, random);
            for (size_t i = 0; i < ends.size(); i += 2) exchange.join(ends[i], ends[i + 1]);
        }
        if (!check(exchange, tour, all)) continue;
        require(exchange.keeps_one_tour(tour), "the same question has another answer");
        exchange.apply(tour);
        tour.commit();
    }
}

}  // namespace

int main() {
    Random random(1);
    for (int size = 3; size <= 7; ++size)
        for (int edges = 1; edges <= std::min(size, Exchange::MOST); ++edges)
            try_all(size, edges, random);
    for (int i = 0; i < 60; ++i) try_some(random);
    std::printf("all exchanges are right\n");
}
