// Searches in several lanes: of the same routes, or of those of different parts of the plane.

#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "improve/effort.h"
#include "improve/routes/lane.h"
#include "improve/routes/regions.h"
#include "improve/routes/savings.h"

namespace metasage::improve {

class RoutesSearch {
public:
    RoutesSearch(const RoutesTask &task, const Effort &effort)
        : task_(task), effort_(effort), random_(mix(effort.seed)), started_(Clock::now()) {}

    FoundRoutes construct() {
        RoutesLane lane(task_, effort_.seed);
        lane.adopt({Savings(task_).build(), {}, {}}, task_.vehicles);
        for (int i = 0; i < MOST_TO_PLACE && lane.best_value().absent > 0 && !late(); ++i)
            lane.step(0.0, [&] { return late(); });
        return lane.best();
    }

    // Descends to a local optimum.
    FoundRoutes polish(const Routes &routes) {
        RoutesLane lane(task_, effort_.seed);
        lane.adopt({routes, {}, {}}, task_.vehicles);
        lane.descend([&] { return late(); });
        return lane.best();
    }

    // `listen` is told of the best routes at first and after each round that improved
    // them, by the thread that called; it answers whether to go on.
    void run(const Routes &start, const std::function<bool(const FoundRoutes &)> &listen) {
        best_ = polish(start);
        bool go_on = listen(best_);
        const bool large = task_.nodes() > LARGE;
        const int lanes = !counted() ? effort_.threads : large ? LANES : 1;
        for (int i = 0; i < lanes; ++i) {
            lanes_.push_back(std::make_unique<RoutesLane>(task_, mix(effort_.seed) + i));
            lanes_.back()->adopt(best_, task_.vehicles);
        }
        FoundRoutes kept = best_;
        heat_ = HEAT * near_length();
        for (int round = 0; go_on && !late() && (!counted() || round < ROUNDS); ++round) {
            const bool parted = large && lanes > 1;
            if (parted) part(kept);
            if (!large) compete(progress(round));
            run_round(round);
            if (parted) kept = joined([](const RoutesLane &lane) { return lane.kept(); });
            FoundRoutes found = parted ? joined([](const RoutesLane &lane) { return lane.best(); })
                                       : best_lane().best();
            if (!(found.value < best_.value)) continue;
            best_ = std::move(found);
            go_on = listen(best_);
        }
    }

private:
    using Clock = Patience::Clock;
    using Lanes = std::vector<std::unique_ptr<RoutesLane>>;

    // Where iterations are counted, lanes must not depend on the machine.
    static constexpr int LANES = 2;
    // Nodes beyond which each lane has a part of the plane.
    static constexpr int LARGE = 1500;
    // At first and in the end, in mean lengths between near nodes.
    static constexpr double HEAT = 1.0, COLD = 0.03;
    static constexpr int NEAR = 10;
    static constexpr int ROUNDS = 50;
    static constexpr double SHORTEST_ROUND = 0.02, LONGEST_ROUND = 1.0;
    static constexpr int BETWEEN_LOOKS = 16;
    // Shares of the search between which one lane has fewer routes.
    static constexpr double TRIAL_BEGINS = 0.1, TRIAL_ENDS = 0.5;
    // Iterations for each node to save a route, and altogether to find a place for everybody.
    static constexpr int TO_SAVE = 10, MOST_TO_PLACE = 20'000;

    bool counted() const { return effort_.kicks >= 0; }

    bool late() {
        if (!stop_ && effort_.patience.is_over()) stop_ = true;
        return stop_;
    }

    static double seconds(Clock::duration time) {
        return std::chrono::duration<double>(time).count();
    }
    double total_seconds() const {
        const Patience &patience = effort_.patience;
        return patience.has_deadline ? seconds(patience.deadline - started_) : 0.0;
    }

    // How much of the search is over, from 0 to 1.
    double progress(double rounds) const {
        if (counted()) return rounds / ROUNDS;
        if (!effort_.patience.has_deadline) return 0.5;
        return std::min(1.0, seconds(Clock::now() - started_) / total_seconds());
    }

    double heat(double over) const { return heat_ * std::pow(COLD / HEAT, over); }

    double near_length() const {
        double sum = 0.0;
        const int near = std::min(NEAR, task_.neighbours.count());
        for (int node = 1; node < task_.nodes(); ++node)
            for (int i = 0; i < near; ++i) sum += task_.neighbours.of(node).from[i].length;
        return sum / std::max(1, (task_.nodes() - 1) * near);
    }

    void run_round(int round) {
        const int count = int(lanes_.size());
        const double length = std::clamp(total_seconds() / ROUNDS, SHORTEST_ROUND, LONGEST_ROUND);
        // Iterations of each lane; without a number, until the time of a round is over.
        const int64_t each = counted() ? effort_.kicks * (round + 1) / ROUNDS / count -
                                             effort_.kicks * round / ROUNDS / count
                                       : INT64_MAX;
#pragma omp parallel for schedule(dynamic, 1) num_threads(effort_.threads)
        for (int i = 0; i < count; ++i) {
            const Clock::time_point begun = Clock::now();
            double warmth = 0.0;
            for (int64_t step = 0; step < each; ++step) {
                if (step % BETWEEN_LOOKS == 0) {
                    if (late() || (!counted() && seconds(Clock::now() - begun) > length)) break;
                    warmth = heat(progress(round + double(step) / double(each)));
                }
                lanes_[i]->step(warmth, [&] { return late(); });
            }
        }
    }

    // Where there are more routes than the loads need, one lane tries to do with fewer. Both are
    // good for some instances; in the middle of the search the better one wins.
    void compete(double over) {
        if (trial_ == Trial::ahead && over >= TRIAL_BEGINS) {
            const FoundRoutes kept = lanes_.front()->kept(), fewer = save_routes(kept, over);
            const bool saved = fewer.routes.size() < kept.routes.size();
            trial_ = saved ? Trial::on : Trial::over;
            if (!saved) return;
            if (lanes_.size() == 1)
                lanes_.push_back(std::make_unique<RoutesLane>(task_, mix(effort_.seed) + 1));
            lanes_.back()->adopt(fewer, int(fewer.routes.size()));
        }
        if (trial_ == Trial::on && over >= TRIAL_ENDS) {
            trial_ = Trial::over;
            if (lanes_.back()->kept_value() < lanes_.front()->kept_value())
                std::swap(lanes_.front(), lanes_.back());
            if (int(lanes_.size()) > effort_.threads || counted()) lanes_.pop_back();
        }
    }

    // Takes one route away after another, until their customers find no place for a while.
    FoundRoutes save_routes(FoundRoutes found, double over) {
        RoutesLane lane(task_, effort_.seed);
        while (int(found.routes.size()) > least_routes()) {
            lane.adopt(found, int(found.routes.size()) - 1);
            const int64_t waited = int64_t(found.absent.size());
            const auto waits = [&] { return lane.kept_value().absent > waited; };
            for (int i = 0; i < TO_SAVE * task_.nodes() && waits() && !late(); ++i)
                lane.step(heat(over), [&] { return late(); });
            if (waits()) break;
            found = lane.kept();
        }
        return found;
    }

    int least_routes() const {
        int64_t load = 0;
        for (const int64_t demand : task_.demand) load += demand;
        const int64_t capacity = std::max<int64_t>(1, task_.capacity);
        return std::max(1, int((load + capacity - 1) / capacity));
    }

    // Gives each lane the routes of a part of the plane.
    void part(const FoundRoutes &kept) {
        const int count = int(lanes_.size());
        const std::vector<Routes> parts = cut(task_, kept.routes, count, random_);
        // One lane after another has the vehicles that are left, and who waits for one.
        const int lucky = random_.below(count);
        for (int i = 0; i < count; ++i) {
            const bool is_lucky = i == lucky;
            const int spare = is_lucky ? task_.vehicles - int(kept.routes.size()) : 0;
            const int vehicles = task_.vehicles == INT_MAX ? INT_MAX : int(parts[i].size()) + spare;
            lanes_[i]->adopt({parts[i], is_lucky ? kept.absent : std::vector<int>{}, {}}, vehicles);
        }
    }

    template <class Result>
    FoundRoutes joined(Result result) const {
        FoundRoutes all;
        for (const auto &lane : lanes_) {
            const FoundRoutes one = result(*lane);
            all.routes.insert(all.routes.end(), one.routes.begin(), one.routes.end());
            all.absent.insert(all.absent.end(), one.absent.begin(), one.absent.end());
            all.value.absent += one.value.absent;
            all.value.length += one.value.length;
        }
        return all;
    }

    const RoutesLane &best_lane() const {
        return **std::min_element(lanes_.begin(), lanes_.end(), [](const auto &a, const auto &b) {
            return a->best_value() < b->best_value();
        });
    }

    enum class Trial { ahead, on, over };

    const RoutesTask &task_;
    Effort effort_;
    Random random_;
    const Clock::time_point started_;
    Lanes lanes_;
    Trial trial_ = Trial::ahead;
    FoundRoutes best_;
    double heat_ = 0.0;
    std::atomic<bool> stop_{false};
};

}  // namespace metasage::improve
