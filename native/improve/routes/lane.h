// One search: ruin a part of the routes, recreate it, descend, keep or undo.

#pragma once

#include "descent.h"
#include "recreate.h"
#include "ruin.h"

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
        : task_(task), random_(seed), plan_(task), ruin_(task, plan_, random_),
          recreate_(task, plan_, random_), descent_(task, plan_), weights_(task.nodes(), 1) {}

    // Starts from routes of all customers or of some, and from customers without a place.
    void adopt(const Routes &routes, const std::vector<int> &absent, int vehicles) {
        plan_.adopt(routes);
        recreate_.vehicles = vehicles;
        customers_.clear();
        for (const std::vector<int> &route : routes)
            customers_.insert(customers_.end(), route.begin(), route.end());
        customers_.insert(customers_.end(), absent.begin(), absent.end());
        absent_ = best_absent_ = absent;
    }

    int used() const { return plan_.used(); }

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
        ruin_.around(customers_[random_.below(int(customers_.size()))], waiting_);
        recreate_.insert(waiting_);
        const double loss = plan_.length() - plan_.kept_length();
        // Most often everything is as it was.
        if (std::fabs(loss) > 1e-9 * plan_.length() || !waiting_.empty()) descent_.run(late);
        decide(heat);
    }

    RoutesValue best_value() const { return {int64_t(best_absent_.size()), plan_.best_length()}; }
    RoutesValue kept_value() const { return {int64_t(absent_.size()), plan_.kept_length()}; }
    FoundRoutes best() const { return {plan_.best(), best_absent_, best_value()}; }
    FoundRoutes kept() const { return {plan_.kept(), absent_, kept_value()}; }

private:
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
    std::vector<int64_t> weights_;  // iterations for which a customer had no place
};

}  // namespace metasage::improve
