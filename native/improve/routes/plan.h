// Routes as rings of linked nodes, each through a depot of its own, with a journal of what
// changed since they were last kept.

#pragma once

#include "improve/routes/task.h"

namespace metasage::improve {

class Plan {
public:
    static constexpr int NOWHERE = -1;

    // Nodes from `task.nodes()` on stand for the depot, one in each route.
    explicit Plan(const RoutesTask &task)
        : task_(task),
          nodes_(task.nodes()),
          links_(2 * size_t(nodes_)),
          routes_(nodes_),
          ways_(nodes_),
          link_stamps_(links_.size(), 0),
          route_stamps_(routes_.size(), 0),
          best_next_(links_.size(), NOWHERE),
          is_stale_(links_.size(), 0) {
        adopt({});
    }

    // Replaces everything; what is kept and best is then this.
    void adopt(const Routes &routes) {
        std::fill(links_.begin(), links_.end(), Link{});
        std::fill(routes_.begin(), routes_.end(), Route{});
        empty_.clear();
        used_ = visited_ = 0;
        length_ = 0.0;
        for (int route = nodes_ - 1; route >= 0; --route) {
            links_[depot_of(route)] = {depot_of(route), depot_of(route), route, 0.0, 0.0};
            empty_.push_back(route);
        }
        for (const std::vector<int> &route : routes) set_route(empty_route(), route);
        keep();
        for (size_t node = 0; node < links_.size(); ++node) best_next_[node] = links_[node].next;
        forget_stale();
        best_length_ = length_;
    }

    int next(int node) const { return links_[node].next; }
    int prev(int node) const { return links_[node].prev; }
    int ahead(int node, bool back) const { return back ? prev(node) : next(node); }
    // Length of the edge to that node.
    double edge(int node, bool back) const {
        return back ? links_[node].behind : links_[node].ahead;
    }
    // NOWHERE for a customer that no route visits.
    int route_of(int node) const { return links_[node].route; }
    bool is_depot(int node) const { return node >= nodes_; }
    int depot_of(int route) const { return nodes_ + route; }
    int64_t load(int route) const { return routes_[route].load; }
    int count(int route) const { return routes_[route].count; }
    // Length and service; only where the task is not plain.
    double duration(int route) const { return routes_[route].duration; }
    int used() const { return used_; }
    int visited() const { return visited_; }
    double length() const { return length_; }
    double kept_length() const { return kept_length_; }

    double between(int a, int b) const { return task_.lengths(place(a), place(b)); }
    // Length and half the service at both ends, so that those of a route add up to its duration.
    double duration(int a, int b) const {
        return between(a, b) + 0.5 * (task_.service[place(a)] + task_.service[place(b)]);
    }
    int64_t room(int route) const { return task_.capacity - load(route); }

    // Some route without customers.
    int empty_route() {
        while (count(empty_.back()) > 0) empty_.pop_back();
        return empty_.back();
    }

    // Sums from the beginning of a route to one of its customers.
    struct Way {
        int position = 0;
        int64_t load = 0;
        double forth = 0.0, back = 0.0;  // duration that way, and the other way round
    };
    const Way &way(int node) {
        const int route = route_of(node);
        if (!routes_[route].is_summed) sum_up(route);
        return ways_[node];
    }

    void remove(int node) {
        const Link link = links_[node];
        touch(node), touch(link.prev), touch(link.next);
        length_ -= link.behind + link.ahead;
        join(link.prev, link.next);
        links_[node].route = NOWHERE;
        const double left = links_[link.prev].ahead - link.behind - link.ahead;
        change(link.route, -task_.demand[node], -1, left - task_.service[place(node)]);
    }

    void insert(int node, int after) {
        const int before = next(after), route = route_of(after);
        const double replaced = links_[after].ahead;
        touch(node), touch(after), touch(before);
        length_ -= replaced;
        join(after, node);
        join(node, before);
        links_[node].route = route;
        const double more = links_[after].ahead + links_[node].ahead - replaced;
        change(route, task_.demand[node], 1, more + task_.service[place(node)]);
    }

    // Gives a route other customers. Those that it loses have to be given to another.
    void set_route(int route, const std::vector<int> &nodes) {
        int64_t load = 0;
        double duration = 0.0;
        int at = depot_of(route);
        const auto go_on = [&](int node) {
            if (links_[at].next != node || route_of(node) != route) {
                touch(at), touch(node);
                length_ -= links_[at].ahead;
                join(at, node);
                links_[node].route = route;
            }
            load += task_.demand[place(node)];
            duration += links_[at].ahead + task_.service[place(node)];
            at = node;
        };
        for (const int node : nodes) go_on(node);
        go_on(depot_of(route));
        const Route &old = routes_[route];
        change(route, load - old.load, int(nodes.size()) - old.count, duration - old.duration);
    }

    // Both ends of the edges that are new since they were last asked for: twice the node, and
    // one more where the edge comes before it.
    void take_changed_ends(std::vector<int> &ends) {
        ends.clear();
        std::swap(ends, changed_);
    }

    // Lets all edges count as new.
    void renew_ends() {
        changed_.clear();
        for (int node = 1; node < nodes_; ++node)
            for (const int end : {2 * node, 2 * node + 1})
                if (route_of(node) != NOWHERE) changed_.push_back(end);
    }

    // Where a detour is shorter than the way, a route may become too long by losing a customer.
    bool changes_fit() const {
        return std::all_of(old_routes_.begin(), old_routes_.end(), [&](const auto &changed) {
            return task_.plain || duration(changed.first) <= task_.longest;
        });
    }

    void keep() {
        kept_length_ = length_;
        for (const int node : touched_) {
            if (is_stale_[node]) continue;
            is_stale_[node] = 1;
            stale_.push_back(node);
        }
        forget();
    }

    void undo() {
        for (size_t i = 0; i < touched_.size(); ++i) links_[touched_[i]] = old_links_[i];
        for (const auto &[route, old] : old_routes_) {
            Route &now = routes_[route];
            used_ += (old.count > 0) - (now.count > 0);
            visited_ += old.count - now.count;
            if (old.count == 0 && now.count > 0) empty_.push_back(route);
            now = old;
            now.is_summed = false;
        }
        length_ = kept_length_;
        forget();
    }

    // Makes what is kept the best. The cost is that of what changed since the one before.
    void remember() {
        for (const int node : stale_) best_next_[node] = links_[node].next;
        best_length_ = kept_length_;
        forget_stale();
    }
    double best_length() const { return best_length_; }
    Routes best() const {
        return walk([&](int node) { return best_next_[node]; });
    }
    Routes kept() const {
        return walk([&](int node) { return next(node); });
    }

private:
    struct Link {
        int next = NOWHERE, prev = NOWHERE, route = NOWHERE;
        double ahead = 0.0, behind = 0.0;
    };
    struct Route {
        int64_t load = 0;
        int count = 0;
        double duration = 0.0;
        bool is_summed = false;
    };

    int place(int node) const { return node < nodes_ ? node : 0; }

    void join(int node, int next) {
        const double length = between(node, next);
        links_[node].next = next;
        links_[node].ahead = length;
        links_[next].prev = node;
        links_[next].behind = length;
        length_ += length;
        changed_.push_back(2 * node);
        changed_.push_back(2 * next + 1);
    }

    void touch(int node) {
        if (link_stamps_[node] == stamp_) return;
        link_stamps_[node] = stamp_;
        touched_.push_back(node);
        old_links_.push_back(links_[node]);
    }

    void change(int route, int64_t load, int count, double duration) {
        Route &one = routes_[route];
        if (route_stamps_[route] != stamp_) {
            route_stamps_[route] = stamp_;
            old_routes_.push_back({route, one});
        }
        used_ -= one.count > 0;
        one.load += load;
        one.count += count;
        one.duration = one.count == 0 ? 0.0 : one.duration + duration;
        one.is_summed = false;
        used_ += one.count > 0;
        visited_ += count;
        if (one.count == 0) empty_.push_back(route);
    }

    void sum_up(int route) {
        Way sum;
        int before = depot_of(route);
        for (int node = next(before); !is_depot(node); before = node, node = next(node)) {
            ++sum.position;
            sum.load += task_.demand[node];
            if (!task_.plain) {
                sum.forth += duration(before, node);
                sum.back += duration(node, before);
            }
            ways_[node] = sum;
        }
        routes_[route].is_summed = true;
    }

    template <class Next>
    Routes walk(Next next_of) const {
        Routes routes;
        for (int route = 0; route < nodes_; ++route) {
            const int depot = depot_of(route);
            if (next_of(depot) == depot) continue;
            routes.emplace_back();
            for (int node = next_of(depot); node != depot; node = next_of(node))
                routes.back().push_back(node);
        }
        return routes;
    }

    void forget() {
        ++stamp_;
        touched_.clear();
        changed_.clear();
        old_links_.clear();
        old_routes_.clear();
    }

    void forget_stale() {
        for (const int node : stale_) is_stale_[node] = 0;
        stale_.clear();
    }

    const RoutesTask &task_;
    int nodes_, used_ = 0, visited_ = 0;
    double length_ = 0.0, kept_length_ = 0.0, best_length_ = 0.0;
    std::vector<Link> links_;
    std::vector<Route> routes_;
    std::vector<Way> ways_;
    std::vector<int> empty_;  // all empty routes, and some that are no longer empty

    // What `undo` needs: a node or route is noted when it is first changed after a `keep`.
    int64_t stamp_ = 1;
    std::vector<int64_t> link_stamps_, route_stamps_;
    std::vector<int> touched_, changed_;
    std::vector<Link> old_links_;
    std::vector<std::pair<int, Route>> old_routes_;

    std::vector<int> best_next_, stale_;  // nodes that changed since the best was remembered
    std::vector<char> is_stale_;
};

}  // namespace metasage::improve
