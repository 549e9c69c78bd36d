// Changes tours at random and takes changes back, and does the same to plain lists of nodes.

#define METASAGE_LEVEL improve

#include <algorithm>

#include "improve/random.h"
#include "improve/tour/tour.h"
#include "require.h"

using namespace metasage::improve;

namespace {

void compare(const Tour &tour, const std::vector<int> &list, const char *after) {
    require(tour.order() == list, "another order after %s", after);
    const int size = int(list.size());
    require(tour.size() == size, "%d instead of %d nodes after %s", tour.size(), size, after);
    std::vector<int> places(tour.nodes(), -1);
    for (int i = 0; i < size; ++i) places[list[i]] = i;
    for (int node = 0; node < tour.nodes(); ++node) {
        const int place = places[node];
        require(tour.contains(node) == (place >= 0), "node %d in or out after %s", node, after);
        if (place < 0) continue;
        require(tour.position(node) == place, "position of node %d after %s", node, after);
        require(tour.at(place) == node, "node at %d after %s", place, after);
        const int next = list[(place + 1) % size], prev = list[(place + size - 1) % size];
        require(tour.next(node) == next, "next of node %d after %s", node, after);
        require(tour.prev(node) == prev, "previous of node %d after %s", node, after);
    }
}

// A tour, the list it has to equal, and the list that taking back leads to.
class Pair {
public:
    Pair(int nodes, Random &random) : tour(nodes), random_(random) { assign(); }

    void change() {
        switch (random_.below(8)) {
            case 0:
                return commit();
            case 1:
                return undo();
            case 2:
            case 3:
                return insert();
            case 4:
            case 5:
                return remove();
            case 6:
                return rewrite();
            default:
                if (random_.below(20) == 0) assign();
        }
    }

    // Changes without the journal stay, whatever is taken back later.
    void change_for_good() {
        commit();
        tour.journaling = false;
        for (int i = 0; i < 5; ++i) insert(), remove(), rewrite();
        tour.journaling = true;
        committed_ = list;
        undo();
    }

    Tour tour;
    std::vector<int> list;

private:
    // Some of the nodes, in any order.
    void assign() {
        list.clear();
        for (int node = 0; node < tour.nodes(); ++node)
            if (random_.below(3) > 0) list.push_back(node);
        shuffle(list);
        tour.assign(list);
        committed_ = list;
        compare(tour, list, "assign");
    }

    void commit() {
        tour.commit();
        committed_ = list;
        compare(tour, list, "commit");
    }

    void undo() {
        tour.undo();
        list = committed_;
        compare(tour, list, "undo");
    }

    void insert() {
        std::vector<int> absent;
        for (int node = 0; node < tour.nodes(); ++node)
            if (std::count(list.begin(), list.end(), node) == 0) absent.push_back(node);
        if (absent.empty() || list.empty()) return;
        const int node = absent[random_.below(int(absent.size()))];
        const int place = random_.below(int(list.size()));
        tour.insert_after(list[place], node);
        list.insert(list.begin() + place + 1, node);
        compare(tour, list, "insert_after");
    }

    void remove() {
        if (list.empty()) return;
        const int place = random_.below(int(list.size()));
        tour.remove(list[place]);
        list.erase(list.begin() + place);
        compare(tour, list, "remove");
    }

    // Another order of some nodes in a row, often around the end of the array, up to all of them.
    void rewrite() {
        const int size = int(list.size());
        if (size == 0) return;
        const int from = random_.below(size), count = random_.below(size + 1);
        std::vector<int> part;
        for (int i = 0; i < count; ++i) part.push_back(list[(from + i) % size]);
        shuffle(part);
        tour.rewrite(from, part);
        for (int i = 0; i < count; ++i) list[(from + i) % size] = part[i];
        compare(tour, list, "rewrite");
    }

    void shuffle(std::vector<int> &nodes) {
        for (int i = int(nodes.size()); i > 1; --i)
            std::swap(nodes[i - 1], nodes[random_.below(i)]);
    }

    std::vector<int> committed_;
    Random &random_;
};

}  // namespace

int main() {
    int changed = 0;
    for (uint64_t seed = 0; seed < 300; ++seed, ++changed) {
        Random random(seed);
        // Small tours are emptied now and then.
        Pair pair(1 + random.below(seed % 2 == 0 ? 6 : 40), random);
        for (int i = 0; i < 300; ++i) pair.change();
        pair.change_for_good();
        for (int i = 0; i < 100; ++i) pair.change();
    }
    std::printf("changed %d tours\n", changed);
}
