// Looks for nearest nodes with the tree and by a look at all nodes.

#define METASAGE_LEVEL improve

#include "improve/neighbours.h"
#include "improve/random.h"
#include "require.h"

using namespace metasage::improve;

namespace {

constexpr int MOST_OF_ALL[] = {1, 2, 5, 8, 10, 1'000};

// How far a node is from another, as the tree counts it.
double apart(const Lengths &lengths, int a, int b) {
    const Point p = lengths.points()[a], q = lengths.points()[b];
    const double x = std::fabs(p.x - q.x), y = std::fabs(p.y - q.y);
    if (lengths.norm() == Measure::manhattan) return x + y;
    if (lengths.norm() == Measure::maximum) return std::max(x, y);
    if (lengths.heights().empty()) return x * x + y * y;
    const double z = lengths.heights()[a] - lengths.heights()[b];
    return x * x + y * y + z * z;
}

int quadrant_of(const Lengths &lengths, int node, int other) {
    const Point from = lengths.points()[node], to = lengths.points()[other];
    return (to.x < from.x ? 0 : 2) + (to.y < from.y ? 0 : 1);
}

// Other nodes of a quadrant and how far they are, nearest first; of equals the lowest.
std::vector<PlaceTree::Found> sorted_others(const Lengths &lengths, int node, int quadrant) {
    std::vector<PlaceTree::Found> all;
    for (int other = 0; other < lengths.nodes(); ++other)
        if (other != node &&
            (quadrant == PlaceTree::EVERYWHERE || quadrant == quadrant_of(lengths, node, other)))
            all.push_back({apart(lengths, node, other), other});
    std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) {
        return std::pair(a.distance, a.node) < std::pair(b.distance, b.node);
    });
    return all;
}

// Of nodes equally far the tree may take any; how far they are leaves no choice.
void check_tree(const Lengths &lengths, const char *kind) {
    const PlaceTree tree(lengths);
    std::vector<PlaceTree::Found> found;
    for (int node = 0; node < lengths.nodes(); ++node)
        for (int quadrant = PlaceTree::EVERYWHERE; quadrant < PlaceTree::QUADRANTS; ++quadrant) {
            const auto all = sorted_others(lengths, node, quadrant);
            for (const int most : MOST_OF_ALL) {
                tree.nearest(node, quadrant, most, found);
                require(found.size() == std::min(all.size(), size_t(most)),
                        "%s: %d found instead of %d of %d", kind, int(found.size()), most,
                        int(all.size()));
                for (size_t i = 0; i < found.size(); ++i) {
                    const int other = found[i].node;
                    require(found[i].distance == all[i].distance &&
                                found[i].distance == apart(lengths, node, other),
                            "%s: %d th of node %d is not as far as it should be", kind, int(i),
                            node);
                    require(other != node && (quadrant == PlaceTree::EVERYWHERE ||
                                              quadrant == quadrant_of(lengths, node, other)),
                            "%s: node %d is not in quadrant %d of %d", kind, other, quadrant, node);
                    require(i == 0 || found[i - 1] < found[i], "%s: node %d has a disorder", kind,
                            node);
                }
            }
        }
}

// Lengths that the neighbours of a node have to have: of two nodes of each quadrant, as far as
// there is room, and of the nearest others.
std::vector<double> wanted_lengths(const Lengths &lengths, int node, int count) {
    std::vector<PlaceTree::Found> chosen;
    for (int quadrant = 0; quadrant < PlaceTree::QUADRANTS; ++quadrant) {
        const auto all = sorted_others(lengths, node, quadrant);
        for (size_t i = 0; i < std::min<size_t>(2, all.size()); ++i)
            if (int(chosen.size()) < count) chosen.push_back(all[i]);
    }
    for (const auto &one : sorted_others(lengths, node, PlaceTree::EVERYWHERE)) {
        const auto same = [&](const auto &other) { return other.node == one.node; };
        if (int(chosen.size()) < count && std::none_of(chosen.begin(), chosen.end(), same))
            chosen.push_back(one);
    }
    std::vector<double> wanted;
    for (const auto &one : chosen) wanted.push_back(lengths(node, one.node));
    std::sort(wanted.begin(), wanted.end());
    return wanted;
}

// Lengths of the nearest by a matrix.
std::vector<double> wanted_of_row(const Lengths &lengths, int node, int count) {
    std::vector<double> wanted;
    for (int other = 0; other < lengths.nodes(); ++other)
        if (other != node) wanted.push_back(lengths(node, other));
    std::sort(wanted.begin(), wanted.end());
    wanted.resize(count);
    return wanted;
}

void check_lists(const Lengths &lengths, const char *kind) {
    for (const int most : MOST_OF_ALL) {
        const Neighbours neighbours(lengths, most);
        const int count = std::min(most, lengths.nodes() - 1);
        require(neighbours.count() == count, "%s: %d neighbours", kind, neighbours.count());
        for (int node = 0; node < lengths.nodes(); ++node) {
            std::vector<double> found;
            std::vector<bool> met(lengths.nodes());
            for (const Neighbours::One &near : neighbours.of(node)) {
                require(near.node != node && !met[near.node], "%s: %d is twice a neighbour of %d",
                        kind, near.node, node);
                met[near.node] = true;
                require(near.length == lengths(node, near.node), "%s: wrong length", kind);
                found.push_back(near.length);
            }
            const auto wanted = lengths.has_places() ? wanted_lengths(lengths, node, count)
                                                     : wanted_of_row(lengths, node, count);
            require(found == wanted, "%s: %d of %d nodes: node %d has others near", kind, count,
                    lengths.nodes(), node);
        }
    }
}

// Coordinates, x and y of each node in turn.
using Places = std::vector<double>;

template <class Draw>
Places draw_places(int nodes, Draw draw) {
    Places places(2 * size_t(nodes));
    for (double &one : places) one = draw();
    return places;
}

void check_places(const Places &places, const char *kind) {
    const int nodes = int(places.size() / 2);
    for (const Measure measure : {Measure::euclidean, Measure::manhattan, Measure::maximum})
        for (const Rounding rounding : {Rounding::none, Rounding::nearest}) {
            const Lengths lengths(nodes, measure, rounding, places.data());
            if (rounding == Rounding::none) check_tree(lengths, kind);
            check_lists(lengths, kind);
        }
    check_lists({nodes, Measure::pseudo_euclidean, Rounding::none, places.data()}, kind);
    // Where chords are equal, arcs may not be to the last bit; so the lists are left out.
    const Lengths globe(nodes, Measure::geographical, Rounding::none, places.data());
    check_tree(globe, kind);
}

void check_matrix(int nodes, int different, Random &random) {
    std::vector<double> matrix(size_t(nodes) * nodes);
    for (double &one : matrix) one = random.below(different);
    const Lengths lengths(nodes, Measure::matrix, Rounding::none, matrix.data());
    check_lists(lengths, "matrix");
}

// Of many nodes at one place none is the neighbour of all others.
void check_one_place() {
    const int nodes = 500, most = 5;
    const Places places(2 * nodes, 3.0);
    const Lengths lengths(nodes, Measure::euclidean, Rounding::none, places.data());
    const Neighbours neighbours(lengths, most);
    std::vector<int> times(nodes);
    for (int node = 0; node < nodes; ++node)
        for (const Neighbours::One &near : neighbours.of(node)) ++times[near.node];
    const int worst = *std::max_element(times.begin(), times.end());
    require(worst <= 4 * most, "a node is the neighbour of %d at its place", worst);
}

}  // namespace

int main() {
    Random random(1);
    for (const int nodes : {1, 2, 3, 4, 8, 9, 10, 17, 40, 150}) {
        const auto in_degrees = [&] { return 90.0 * random.fraction(); };
        check_places(draw_places(nodes, in_degrees), "plane");
        const auto on_grid = [&] { return double(random.below(6)); };
        check_places(draw_places(nodes, on_grid), "grid");
        check_places(draw_places(nodes, [] { return 1.0; }), "one place");
        Places line = draw_places(nodes, in_degrees), clusters = draw_places(nodes, on_grid);
        for (size_t i = 1; i < line.size(); i += 2) line[i] = 7.0;
        check_places(line, "line");
        for (double &one : clusters) one = 10.0 * one + 0.01 * random.fraction();
        check_places(clusters, "clusters");
        check_matrix(nodes, 1'000'000, random);
        check_matrix(nodes, 5, random);
    }
    check_one_place();
    std::printf("all neighbours are right\n");
}
