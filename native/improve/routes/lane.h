// One search: ruin a part of the routes, recreate it, descend, keep or undo.

#pragma once

#include "improve/routes/descent.h"
#include "improve/routes/recreate.h"
#include "improve/routes/ruin.h"

namespace metasage::improve {

// How good routes are: customers without a place count first.
struct RoutesValue {
    int64_t absent = 0;
    double length = 0.0;
    bool operator<(const RoutesValue &other) const {
        return absent != other.absent ? absent < other.absent
                                      : length < other.length * (1.0 - 1e-12);
    }
};

struct FoundRoutes {
    Routes routes;
    std::vector<int> absent;  // customers for whom there is no vehicle
    RoutesValue value;
};

class RoutesLane {
public:
    RoutesLane(const RoutesTask &task, uint64_t seed)
        : task_(task),
          random_(seed),
          plan_(task),
          ruin_(task, plan_, random_),
          recreate_(task, plan_, random_),
          descent_(task, plan_),
          weights_(task.nodes(), 1) {}

    // Starts from all customers or some. Those wait whose routes do not fit: too long, too
    // heavy, or the lightest of too many.
    void adopt(FoundRoutes start, int vehicles) {
        std::stable_sort(start.routes.begin(), start.routes.end(),
                         [&](const auto &a, const auto &b) { return load(a) > load(b); });
        Routes routes;
        absent_ = std::move(start.absent);
        customers_ = absent_;
        for (std::vector<int> &route : start.routes) {
            customers_.insert(customers_.end(), route.begin(), route.end());
            if (int(routes.size()) < vehicles && fits(route))
                routes.push_back(std::move(route));
            else
                absent_.insert(absent_.end(), route.begin(), route.end());
        }
        best_absent_ = absent_;
        recreate_.vehicles = vehicles;
        plan_.adopt(routes);
        stay_ = 0;
    }

    template <class Late>
    void descend(Late late) {
        plan_.renew_ends();
        descent_.run(late);
        keep();
    }

    // With heat, routes that are longer by about that may take the place of the present ones.
    template <class Late>
    void step(double heat, Late late) {
        if (customers_.empty()) return;
        waiting_.assign(absent_.begin(), absent_.end());
        ruin_.around(centre(), waiting_);
        recreate_.insert(waiting_);
        const double loss = plan_.length() - plan_.kept_length();
        // Most often everything is as it was.
        if (std::fabs(loss) > task_.least_gain || !waiting_.empty()) descent_.run(late);
        decide(heat);
    }

    RoutesValue best_value() const { return {int64_t(best_absent_.size()), plan_.best_length()}; }
    RoutesValue kept_value() const { return {int64_t(absent_.size()), plan_.kept_length()}; }
    FoundRoutes best() const { return {plan_.best(), best_absent_, best_value()}; }
    FoundRoutes kept() const { return {plan_.kept(), absent_, kept_value()}; }

private:
    // Iterations that follow each other among the near nodes of one customer, which are at hand
    // then.
    static constexpr int STAY = 100;

    int centre() {
        if (stay_-- == 0) {
            middle_ = customers_[random_.below(int(customers_.size()))];
            stay_ = STAY - 1;
        }
        const int choice = random_.below(task_.neighbours.count() + 1);
        const int node = choice == 0 ? 0 : task_.neighbours.of(middle_).from[choice - 1].node;
        return node == 0 ? middle_ : node;
    }

    // Customers that were left out for long weigh more (Christiaens and Vanden Berghe 2020).
    void decide(double heat) {
        const int64_t before = weight(absent_), after = weight(waiting_);
        const double loss = plan_.length() - plan_.kept_length();
        const bool taken =
            after != before ? after < before : loss <= -heat * std::log(random_.fraction());
        for (const int node : absent_) ++weights_[node];
        if (taken && plan_.changes_fit()) {
            absent_ = waiting_;
            keep();
        } else {
            plan_.undo();
        }
        if constexpr (VERIFYING) verify(task_, plan_, recreate_.vehicles);
    }

    void keep() {
        plan_.keep();
        if (!(kept_value() < best_value())) return;
        best_absent_ = absent_;
        plan_.remember();
    }

    int64_t load(const std::vector<int> &route) const {
        int64_t sum = 0;
        for (const int node : route) sum += task_.demand[node];
        return sum;
    }

    bool fits(const std::vector<int> &route) const {
        return load(route) <= task_.capacity && task_.duration(route) <= task_.longest;
    }

    int64_t weight(const std::vector<int> &nodes) const {
        int64_t sum = 0;
        for (const int node : nodes) sum += weights_[node];
        return sum;
    }

    const RoutesTask &task_;
    Random random_;
    Plan plan_;
    Ruin ruin_;
    Recreate recreate_;
    Descent descent_;
    std::vector<int> customers_, absent_, best_absent_, waiting_;
    int middle_ = 0, stay_ = 0;
    std::vector<int64_t> weights_;  // iterations for which a customer had no place
};

}  // namespace metasage::improve
