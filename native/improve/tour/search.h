// Several lanes side by side, in rounds after which the best tour is reported.

#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "improve/effort.h"
#include "improve/tour/compact.h"
#include "improve/tour/greedy_tour.h"
#include "improve/tour/lane.h"

namespace metasage::improve {

using Tours = std::vector<std::vector<int>>;

struct Found {
    std::vector<int> order;
    Totals totals;
};

class TourSearch {
public:
    using Clock = Patience::Clock;

    TourSearch(const TourTask &task, const Effort &effort)
        : task_(task), effort_(effort), started_(Clock::now()) {}

    // Tours to start from where none is given; without choice, before any descent.
    // Tours through all nodes, through none and through those around a place lead to
    // different choices.
    std::vector<Found> construct() {
        Tours starts{GreedyTour(task_.lengths, task_.neighbours).build()};
        if (!task_.selective()) return {{starts.front(), {}}};
        if (task_.goal == Goal::most_prize) {
            Tours dense = CompactTours(task_, starts.front()).build(DENSE, [&] { return late(); });
            // To drop most of very many nodes, one by one, takes too long.
            if (task_.lengths.nodes() > MOST_TO_DROP) starts.clear();
            starts.push_back({0});
            std::move(dense.begin(), dense.end(), std::back_inserter(starts));
        }
        return from_each(starts, [&](TourLane &lane) { lane.prepare([&] { return late(); }); });
    }

    // Descends from each tour to a local optimum of its own.
    std::vector<Found> polish(const Tours &starts) {
        return from_each(starts, [&](TourLane &lane) { lane.descend([&] { return late(); }); });
    }

    // `listen` is told of the best tour at first and after each round that improved
    // it, by the thread that called; it answers whether to go on.
    void run(const Tours &starts, const std::function<bool(const Found &)> &listen) {
        const bool counted = effort_.kicks >= 0;
        // Their number has to be the same on any machine if kicks are counted; few kicks
        // do more in one lane.
        const int64_t kicked =
            1 + std::max<int64_t>(effort_.kicks, 0) / (KICKS_OF_A_LANE * task_.lengths.nodes());
        const int lanes = counted ? int(std::min<int64_t>(LANES, kicked)) : effort_.threads;
        std::vector<Found> found = polish(starts);
        std::stable_sort(found.begin(), found.end(), [&](const Found &a, const Found &b) {
            return better(a.totals, b.totals);
        });
        best_ = found.front();
        bool go_on = listen(best_);
        if (!go_on || late()) return;
        lanes_.resize(lanes);
#pragma omp parallel for schedule(dynamic, 1) num_threads(effort_.threads)
        for (int i = 0; i < lanes; ++i) {
            lanes_[i] = std::make_unique<TourLane>(task_, mix(effort_.seed) + i);
            // Lanes that go their own ways start from different tours.
            const size_t start = task_.selective() ? i % found.size() : 0;
            lanes_[i]->adopt(found[start].order);
            lanes_[i]->descend([&] { return late(); });
        }
        heat_ = HEAT[int(task_.goal)] * lanes_.front()->mean_edge();
        const int64_t each = counted ? (effort_.kicks + lanes - 1) / lanes : INT64_MAX;
        for (int64_t done = 0; go_on && done < each && !late(); done += ROUND) {
            run_round(done, std::min(done + ROUND, each));
            if (collect()) go_on = listen(best_);
        }
    }

private:
    static constexpr int LANES = 4;
    // For each node.
    static constexpr int KICKS_OF_A_LANE = 10;
    // Dense tours that an OP starts with.
    static constexpr int DENSE = 4;
    static constexpr int MOST_TO_DROP = 20'000;
    // How hot the search begins for each goal, in mean edges; at its end it is cold. An OP has
    // to leave a part of the plane for another.
    static constexpr double HEAT[] = {0.3, 1.0, 2.0};
    static constexpr int64_t ROUND = 500;
    static constexpr std::chrono::milliseconds ROUND_TIME{30};

    template <class Work>
    std::vector<Found> from_each(const Tours &starts, Work work) {
        std::vector<Found> found(starts.size());
#pragma omp parallel for schedule(dynamic, 1) num_threads(effort_.threads)
        for (size_t i = 0; i < starts.size(); ++i) {
            TourLane lane(task_, effort_.seed + i);
            lane.adopt(starts[i]);
            work(lane);
            found[i] = {lane.best(), lane.best_totals()};
        }
        return found;
    }

    bool late() {
        if (!stop_ && effort_.patience.is_over()) stop_ = true;
        return stop_;
    }

    bool better(const Totals &a, const Totals &b) const {
        if (task_.feasible(a) != task_.feasible(b)) return task_.feasible(a);
        return task_.gain(b, a) > 0.0;
    }

    // How much of the search is over, from 0 to 1.
    double progress(int64_t kick) const {
        if (effort_.kicks >= 0) return double(kick) * double(lanes_.size()) / double(effort_.kicks);
        const auto share = [&](Clock::time_point until) {
            return std::chrono::duration<double>(until - started_).count();
        };
        if (!effort_.patience.has_deadline) return 0.5;
        return std::min(1.0, share(Clock::now()) / share(effort_.patience.deadline));
    }

    void run_round(int64_t from, int64_t to) {
        const int count = int(lanes_.size());
        const Clock::time_point end = Clock::now() + ROUND_TIME;
#pragma omp parallel for schedule(dynamic, 1) num_threads(effort_.threads)
        for (int i = 0; i < count; ++i) {
            TourLane &lane = *lanes_[i];
            for (int64_t kick = from; kick < to && !late(); ++kick) {
                if (effort_.kicks < 0 && Clock::now() > end) break;
                lane.step(heat_ * (1.0 - progress(kick)), [&] { return late(); });
            }
            lane.measure();
        }
    }

    // Takes over what the lanes found; whether it is better than before.
    bool collect() {
        size_t first = 0;
        for (size_t i = 1; i < lanes_.size(); ++i)
            if (better(lanes_[i]->best_totals(), lanes_[first]->best_totals())) first = i;
        const TourLane &lane = *lanes_[first];
        if (!better(lane.best_totals(), best_.totals)) return false;
        best_ = {lane.best(), lane.best_totals()};
        return true;
    }

    const TourTask &task_;
    Effort effort_;
    const Clock::time_point started_;
    std::vector<std::unique_ptr<TourLane>> lanes_;
    Found best_;
    double heat_ = 0.0;
    std::atomic<bool> stop_{false};
};

}  // namespace metasage::improve
