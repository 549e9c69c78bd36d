// A queue of nodes whose surroundings are still to be looked at.

#pragma once

#include <vector>

namespace metasage::improve {

// Each node waits at most once.
class WorkQueue {
public:
    explicit WorkQueue(int nodes) : waiting_(nodes, 0) {}

    bool empty() const { return head_ == nodes_.size(); }
    void push(int node) {
        if (waiting_[node]) return;
        waiting_[node] = 1;
        nodes_.push_back(node);
    }
    int pop() {
        const int node = nodes_[head_++];
        waiting_[node] = 0;
        if (empty()) nodes_.clear(), head_ = 0;
        return node;
    }
    void clear() {
        while (!empty()) pop();
    }

private:
    std::vector<char> waiting_;
    std::vector<int> nodes_;
    size_t head_ = 0;
};

}  // namespace metasage::improve
