// Lengths of edges, computed as metasage/problems/metric.py computes them.

#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace metasage::improve {

enum class Measure { matrix, euclidean, manhattan, maximum, pseudo_euclidean, geographical };
enum class Rounding { none, nearest, up, down };

struct Point {
    double x, y;
};

class Lengths {
public:
    // A matrix stays the caller's; coordinates (x, y of each node) are copied.
    Lengths(int nodes, Measure measure, Rounding rounding, const double *data)
        : nodes_(nodes), measure_(measure), rounding_(rounding) {
        if (measure == Measure::matrix) {
            matrix_ = data;
            return;
        }
        points_.resize(nodes);
        for (int i = 0; i < nodes; ++i) points_[i] = {data[2 * i], data[2 * i + 1]};
        if (measure == Measure::geographical) place_on_sphere();
    }

    double operator()(int a, int b) const {
        if (measure_ == Measure::matrix) return matrix_[int64_t(a) * nodes_ + b];
        const Point p = points_[a], q = points_[b];
        const double dx = p.x - q.x, dy = p.y - q.y;
        switch (measure_) {
            case Measure::euclidean:
                return rounded(std::sqrt(dx * dx + dy * dy));
            case Measure::manhattan:
                return rounded(std::fabs(dx) + std::fabs(dy));
            case Measure::maximum:
                return rounded(std::fmax(std::fabs(dx), std::fabs(dy)));
            case Measure::pseudo_euclidean: {
                const double exact = std::sqrt((dx * dx + dy * dy) / 10.0);
                const double nearest = double(int64_t(exact + 0.5));
                return nearest < exact ? nearest + 1.0 : nearest;
            }
            default: {
                if (a == b) return 0.0;
                const double cosine = p.x * q.x + p.y * q.y + heights_[a] * heights_[b];
                const double angle = std::acos(std::fmin(1.0, std::fmax(-1.0, cosine)));
                return double(int64_t(6378.388 * angle + 1.0));
            }
        }
    }

    int nodes() const { return nodes_; }
    // Of places, the farthest from the first tells how far all lie apart; a row of a matrix may be
    // all zero.
    double longest() const {
        double most = 0.0;
        for (int row = 0; row < (has_places() ? 1 : nodes_); ++row)
            for (int node = 0; node < nodes_; ++node) most = std::fmax(most, (*this)(row, node));
        return most;
    }
    // Whether some edge is longer in one direction than in the other.
    bool is_directed() const {
        if (measure_ != Measure::matrix) return false;
        for (int a = 0; a < nodes_; ++a)
            for (int b = 0; b < a; ++b)
                if ((*this)(a, b) != (*this)(b, a)) return true;
        return false;
    }
    bool has_places() const { return measure_ != Measure::matrix; }
    // Distances by this norm order the nodes as the lengths do.
    Measure norm() const { return measure_; }
    const std::vector<Point> &points() const { return points_; }
    // Third coordinate on the unit sphere; empty in the plane.
    const std::vector<double> &heights() const { return heights_; }

private:
    // Lengths are not negative, so that casting rounds them down.
    double rounded(double length) const {
        if (rounding_ == Rounding::none) return length;
        if (rounding_ == Rounding::nearest) return double(int64_t(length + 0.5));
        const double down = double(int64_t(length));
        return rounding_ == Rounding::up && down < length ? down + 1.0 : down;
    }

    // TSPLIB's coordinates are degrees and minutes; its formula is the product of
    // the places on the unit sphere.
    void place_on_sphere() {
        const auto radians = [](double value) {
            const double degrees = std::trunc(value);
            return 3.141592 * (degrees + 5.0 * (value - degrees) / 3.0) / 180.0;
        };
        heights_.resize(nodes_);
        for (int i = 0; i < nodes_; ++i) {
            const double latitude = radians(points_[i].x), longitude = radians(points_[i].y);
            points_[i] = {std::cos(latitude) * std::cos(longitude),
                          std::cos(latitude) * std::sin(longitude)};
            heights_[i] = std::sin(latitude);
        }
    }

    int nodes_;
    Measure measure_;
    Rounding rounding_;
    const double *matrix_ = nullptr;
    std::vector<Point> points_;
    std::vector<double> heights_;
};

}  // namespace metasage::improve
