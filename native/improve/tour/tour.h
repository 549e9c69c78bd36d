// A closed tour as an array, with a journal by which changes are taken back.

#pragma once

#include <vector>

namespace metasage::improve {

class Tour {
public:
    explicit Tour(int nodes) : position_(nodes, -1) {}

    void assign(const std::vector<int> &order) {
        for (const int node : order_) position_[node] = -1;
        order_ = order;
        for (int i = 0; i < size(); ++i) position_[order_[i]] = i;
        journal_.clear();
    }

    const std::vector<int> &order() const { return order_; }
    int size() const { return int(order_.size()); }
    int nodes() const { return int(position_.size()); }
    bool contains(int node) const { return position_[node] >= 0; }
    int position(int node) const { return position_[node]; }
    int at(int position) const { return order_[position]; }
    int wrapped(int position) const { return position < size() ? position : position - size(); }
    int next(int node) const { return order_[wrapped(position_[node] + 1)]; }
    int prev(int node) const {
        const int position = position_[node];
        return order_[position > 0 ? position - 1 : size() - 1];
    }

    // Replaces nodes from a position on, around the end, by an order of the same nodes.
    void rewrite(int from, const std::vector<int> &nodes) {
        for (int i = 0, at = from; i < int(nodes.size()); ++i, at = wrapped(at + 1)) {
            write(order_[at]);
            put(at, nodes[i]);
        }
        write(from);
        write(int(nodes.size()));
    }

    void insert_after(int before, int node) {
        const int at = position_[before] + 1;
        insert_at(at, node);
        write(at);
        write(INSERTED);
    }

    void remove(int node) {
        write(node);
        write(position_[node]);
        write(REMOVED);
        remove_at(position_[node]);
    }

    // Whether changes can be taken back; a long descent would fill the memory.
    bool journaling = true;

    // Forgets how to take back what was done so far.
    void commit() { journal_.clear(); }

    // Takes back everything since the last commit.
    void undo() {
        while (!journal_.empty()) {
            const int count = pop(), from = pop();
            if (count == INSERTED) {
                remove_at(from);
            } else if (count == REMOVED) {
                insert_at(from, pop());
            } else {
                for (int i = count - 1; i >= 0; --i) put((from + i) % size(), pop());
            }
        }
    }

private:
    static constexpr int INSERTED = -1, REMOVED = -2;

    void put(int position, int node) {
        order_[position] = node;
        position_[node] = position;
    }

    void insert_at(int at, int node) {
        order_.insert(order_.begin() + at, node);
        for (int i = at; i < size(); ++i) position_[order_[i]] = i;
    }

    void remove_at(int at) {
        position_[order_[at]] = -1;
        order_.erase(order_.begin() + at);
        for (int i = at; i < size(); ++i) position_[order_[i]] = i;
    }

    void write(int value) {
        if (journaling) journal_.push_back(value);
    }
    int pop() {
        const int value = journal_.back();
        journal_.pop_back();
        return value;
    }

    std::vector<int> order_, position_, journal_;
};

}  // namespace metasage::improve
