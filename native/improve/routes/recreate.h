// Puts customers back where they cost least, most of the time (Christiaens and Vanden Berghe 2020).

#pragma once

#include "improve/random.h"
#include "improve/routes/plan.h"

namespace metasage::improve {

class Recreate {
public:
    Recreate(const RoutesTask &task, Plan &plan, Random &random)
        : vehicles(task.vehicles), task_(task), plan_(plan), random_(random) {}

    int vehicles;  // routes that there may be

    // Inserts one after another; leaves those in the list that have no place.
    void insert(std::vector<int> &customers) {
        sort(customers);
        const auto inserted = [&](int node) {
            const int place = best_place(node);
            if (place != Plan::NOWHERE) plan_.insert(node, place);
            return place != Plan::NOWHERE;
        };
        customers.erase(std::remove_if(customers.begin(), customers.end(), inserted),
                        customers.end());
    }

private:
    // Share of better places that are overlooked.
    static constexpr double BLINK = 0.01;
    // Near nodes beside which a place is looked for, and beyond only while there is none.
    static constexpr int ENOUGH = 40;

    void sort(std::vector<int> &customers) {
        for (size_t i = customers.size(); i > 1; --i)
            std::swap(customers[i - 1], customers[random_.below(int(i))]);
        const auto by = [&](auto value) {
            std::stable_sort(customers.begin(), customers.end(),
                             [&](int a, int b) { return value(a) < value(b); });
        };
        const int order = random_.below(11);
        if (order < 4) by([&](int node) { return -task_.demand[node]; });
        if (order == 4 || order == 5) by([&](int node) { return -task_.lengths(0, node); });
        if (order == 6) by([&](int node) { return task_.lengths(0, node); });
    }

    // The node after which to insert a customer, or NOWHERE.
    int best_place(int node) {
        node_ = node;
        least_ = RoutesLimits::ANY;
        place_ = Plan::NOWHERE;
        const int fresh = plan_.depot_of(plan_.empty_route());
        if (plan_.used() < vehicles) offer(fresh, fresh);
        int looked_at = 0;
        for (const Neighbours::One &near : task_.neighbours.of(node)) {
            if (++looked_at > ENOUGH && place_ != fresh && place_ != Plan::NOWHERE) break;
            look_beside(near);
        }
        if (place_ == Plan::NOWHERE) look_everywhere();
        return place_;
    }

    void look_beside(const Neighbours::One &near) {
        const int route = plan_.route_of(near.node);
        if (route == Plan::NOWHERE) return;
        // The other end of an edge is farther away, or had its turn.
        const double replaced = 2.0 * near.length - least_;
        const auto pays = [&](bool back) {
            return task_.directed || replaced < plan_.edge(near.node, back) ||
                   plan_.is_depot(plan_.ahead(near.node, back));
        };
        const bool before = pays(true), after = pays(false);
        if (!(before || after) || plan_.room(route) < task_.demand[node_]) return;
        if (before) offer(plan_.prev(near.node), near.node);
        if (after) offer(near.node, plan_.next(near.node));
    }

    // Only where the number of vehicles leaves no other way.
    void look_everywhere() {
        for (int route = 0; route < task_.nodes(); ++route) {
            if (plan_.count(route) == 0 || plan_.room(route) < task_.demand[node_]) continue;
            int at = plan_.depot_of(route);
            do {
                offer(at, plan_.next(at));
                at = plan_.next(at);
            } while (!plan_.is_depot(at));
        }
    }

    void offer(int after, int before) {
        const double cost =
            plan_.between(after, node_) + plan_.between(node_, before) - plan_.edge(after, false);
        if (cost >= least_) return;
        if (!task_.plain &&
            plan_.duration(plan_.route_of(after)) + cost + task_.service[node_] > task_.longest)
            return;
        if (place_ != Plan::NOWHERE && blinks()) return;
        least_ = cost;
        place_ = after;
    }

    bool blinks() {
        if (until_blink_-- > 0) return false;
        until_blink_ = int(std::log(random_.fraction()) / std::log1p(-BLINK));
        return true;
    }

    const RoutesTask &task_;
    Plan &plan_;
    Random &random_;
    int node_ = 0, place_ = Plan::NOWHERE, until_blink_ = 0;
    double least_ = 0.0;
};

}  // namespace metasage::improve
