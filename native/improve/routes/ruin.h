// Takes strings of customers out of routes beside each other (Christiaens and Vanden Berghe 2020).

#pragma once

#include "improve/random.h"
#include "improve/routes/plan.h"

namespace metasage::improve {

class Ruin {
public:
    Ruin(const RoutesTask &task, Plan &plan, Random &random)
        : task_(task), plan_(plan), random_(random), turns_(task.nodes(), 0) {}

    // Appends to `removed` the customers of some strings around one.
    void around(int centre, std::vector<int> &removed) {
        ++turn_;
        const int mean = plan_.visited() / std::max(1, plan_.used());
        longest_ = std::clamp(mean, 1, LONGEST);
        const double most = 4.0 * MEAN / (1.0 + longest_) - 1.0;
        int strings = 1 + int(random_.fraction() * most);
        const auto look_at = [&](int node) {
            if (is_ruinable(node)) {
                take_from(node, removed);
                --strings;
            }
        };
        look_at(centre);
        for (const Neighbours::One &near : task_.neighbours.of(centre)) {
            if (strings <= 0) break;
            look_at(near.node);
        }
    }

private:
    // Customers removed on average, roughly, and at most in a row.
    static constexpr double MEAN = 12.0;
    static constexpr int LONGEST = 10;
    // Of routes that are longer than this, several strings are taken.
    static constexpr int LONG_ROUTE = 50;
    // Shares of strings with customers in the middle that stay, and of those with just one.
    static constexpr double SPLIT = 0.5, JUST_ONE = 0.01;
    static constexpr int MOST_KEPT = 100;

    bool is_ruinable(int node) {
        const int route = plan_.route_of(node);
        if (route == Plan::NOWHERE) return false;
        if (turns_[route] == turn_ && plan_.count(route) <= LONG_ROUTE) return false;
        turns_[route] = turn_;
        return true;
    }

    void take_from(int node, std::vector<int> &removed) {
        const int count = plan_.count(plan_.route_of(node));
        const int length = 1 + random_.below(std::min(count, longest_));
        int kept = 0;
        if (length > 1 && length < count && random_.fraction() <= SPLIT)
            for (kept = 1;
                 length + kept < count && kept < MOST_KEPT && random_.fraction() > JUST_ONE;)
                ++kept;
        const int total = length + kept;
        const int before = reach(node, true, total - 1), after = reach(node, false, total - 1);
        const int least = std::max(0, total - 1 - after);
        int at = node;
        for (int steps = least + random_.below(before - least + 1); steps > 0; --steps)
            at = plan_.prev(at);
        const int first = kept > 0 ? 1 + random_.below(length - 1) : length;
        for (int i = 0; i < total; ++i) {
            const int next = plan_.next(at);
            if (i < first || i >= first + kept) {
                plan_.remove(at);
                removed.push_back(at);
            }
            at = next;
        }
    }

    // Number of customers beside a node on one side, up to some.
    int reach(int node, bool back, int most) const {
        int found = 0;
        for (int at = plan_.ahead(node, back); found < most && !plan_.is_depot(at);
             at = plan_.ahead(at, back))
            ++found;
        return found;
    }

    const RoutesTask &task_;
    Plan &plan_;
    Random &random_;
    std::vector<int64_t> turns_;  // when each route was last ruined
    int64_t turn_ = 0;
    int longest_ = 1;
};

}  // namespace metasage::improve
