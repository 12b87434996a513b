// The edit that moves the line where two joints are equal, and sets how wide their border is.
#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "core/parallel.h"
#include "core/try.h"
#include "core/vectors.h"
#include "edits/edit_kinds.h"

namespace sinew {
namespace {

constexpr double kShared = 0.2;  // of the weight of a row: what both joints must have where their line runs

/// The line where both joints have the same weight, in pieces: one for each triangle that it crosses.
struct Piece {
    Point3 a, b;
    double slope;  // of the first joint's part of the weight of both, per scene unit, across the line
};

double distance_to(const Piece& piece, const Point3& p) {
    const Point3 along = piece.b - piece.a;
    const double square = dot(along, along);
    const double t = square > 0 ? std::clamp(dot(p - piece.a, along) / square, 0.0, 1.0) : 0;
    return norm(p - (piece.a + t * along));
}

/// The first joint's part at a place x from the line, towards its side; its slope at the line is 1.5 / width.
double profile(double x, double width) {
    const double t = std::clamp(0.5 + x / width, 0.0, 1.0);
    return t * t * (3 - 2 * t);
}

class Border {
public:
    Border(const EditTask& task, const EditPart& part) : task_(task), surface_(task.surface.surface()) {
        part_.assign(surface_.nodes(), NAN);
        for (std::uint32_t n = 0; n < part_.size(); ++n) {
            double first = 0, both = 0;
            for (const Influence& i : task.row(surface_.vertex_of[n])) {
                if (i.joint == part.joints[0]) first += i.weight;
                if (i.joint == part.joints[0] || i.joint == part.joints[1]) both += i.weight;
            }
            if (both > 0) part_[n] = first / both;
            shared_.push_back(both >= kShared);
        }
        for (const Triangle& t : task.surface.mesh.triangles) add_piece(t);
        even_slopes();
    }

    bool empty() const { return pieces_.empty(); }
    double part_at(std::uint32_t node) const { return part_[node]; }

    /// Per node: the piece that is nearest along the surface, within `reach`, and the distance; negative on the
    /// second joint's side. The distance is straight, from pieces that come over the surface.
    struct Near {
        std::uint32_t piece = no_index;
        double distance = INFINITY;
    };
    std::vector<Near> near_line(double reach) const {
        std::vector<Near> out(surface_.nodes());
        using Entry = std::pair<double, std::uint32_t>;
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
        const auto offer = [&](std::uint32_t node, std::uint32_t piece) {
            const double d = distance_to(pieces_[piece], place(node));
            if (d > reach || d >= out[node].distance) return;
            out[node] = {piece, d};
            queue.push({d, node});
        };
        for (std::uint32_t p = 0; p < pieces_.size(); ++p)
            for (const std::uint32_t v : triangle_[p]) offer(surface_.node_of[v], p);
        const Neighbourhoods& beside = task_.surface.neighbours();
        while (!queue.empty()) {
            const auto [d, node] = queue.top();
            queue.pop();
            if (d > out[node].distance) continue;
            for (const Neighbourhoods::Link& l : beside.of(node)) offer(l.node, out[node].piece);
        }
        for (std::uint32_t n = 0; n < out.size(); ++n)
            if (part_[n] < 0.5) out[n].distance = -out[n].distance;
        return out;
    }
    double width_at(std::uint32_t piece) const { return 1.5 / pieces_[piece].slope; }
    double widest() const {
        double most = 0;
        for (std::uint32_t p = 0; p < pieces_.size(); ++p) most = std::max(most, width_at(p));
        return most;
    }

private:
    Point3 place(std::uint32_t node) const { return to_point(surface_.position[node]); }

    void add_piece(const Triangle& t) {
        std::array<std::uint32_t, 3> n;
        std::array<Point3, 3> p;
        for (std::size_t k = 0; k < 3; ++k) {
            n[k] = surface_.node_of[t[k]];
            if (n[k] == no_index || !shared_[n[k]]) return;
            p[k] = place(n[k]);
        }
        std::vector<Point3> ends;
        for (std::size_t k = 0; k < 3; ++k) {
            const std::size_t m = (k + 1) % 3;
            const double a = part_[n[k]] - 0.5, b = part_[n[m]] - 0.5;
            if ((a < 0) != (b < 0)) ends.push_back(p[k] + (a / (a - b)) * (p[m] - p[k]));
        }
        const Point3 u = p[1] - p[0], v = p[2] - p[0], normal = cross(u, v);
        const double square = dot(normal, normal);
        if (ends.size() != 2 || !(square > 0)) return;
        const Point3 gradient = (1 / square) * ((part_[n[1]] - part_[n[0]]) * cross(v, normal) +
                                                (part_[n[2]] - part_[n[0]]) * cross(normal, u));
        if (!(norm(gradient) > 0)) return;
        pieces_.push_back({ends[0], ends[1], norm(gradient)});
        triangle_.push_back(t);
    }

    /// Each slope becomes the mean of those within half of a width, by length.
    void even_slopes() {
        std::vector<double> even(pieces_.size());
        parallel_for(task_.context, pieces_.size(), 64, [&](std::size_t i) {
            const Point3 here = 0.5 * (pieces_[i].a + pieces_[i].b);
            double sum = 0, slopes = 0;
            for (const Piece& other : pieces_) {
                const Point3 to = here - 0.5 * (other.a + other.b);
                if (const double half = 0.75 / pieces_[i].slope; dot(to, to) > half * half) continue;
                const double length = norm(other.b - other.a);
                sum += length;
                slopes += length * other.slope;
            }
            even[i] = sum > 0 ? slopes / sum : pieces_[i].slope;
        });
        for (std::size_t i = 0; i < pieces_.size(); ++i) pieces_[i].slope = even[i];
    }

    const EditTask& task_;
    const MeshSurface& surface_;
    std::vector<double> part_;  // per node: the first joint's part of the weight of both; NaN: neither has any
    std::vector<bool> shared_;
    std::vector<Piece> pieces_;
    std::vector<Triangle> triangle_;  // of each piece
};

}  // namespace

Status check_border(const WeightEdit& edit, std::size_t, std::size_t) {
    if (edit.joints[0] == edit.joints[1]) return Error{ErrorCode::input, "border needs two different joints"};
    if (edit.shift == 0 && std::isnan(edit.width))
        return Error{ErrorCode::input, "border needs \"shift\", \"width\" or both"};
    return Done{};
}

Status complete_border(const EditPreparation& of) {
    for (const std::uint32_t j : of.edit.joints) {
        SINEW_TRY(of.deforms(j, "\"joints\""));
        of.edit.called += (of.edit.called.empty() ? "'" : " and '") + printable(of.skeleton.joints[j].name) + "'";
    }
    return Done{};
}

/// At each vertex: the parts of both joints, or nothing where they stay.
Result<PreparedRow> border_rows(const EditTask& task, const EditPart& part, std::span<const std::uint32_t> at) {
    Border border(task, part);
    if (border.empty())
        return Error{ErrorCode::input, "border: the joints " +
                                           (task.edit.called.empty() ? "" : task.edit.called + " ") +
                                           "do not touch: there is no line on the surface where both are equal"};
    const double shift = task.edit.shift, width = task.edit.width;
    const double reach = std::abs(shift) + std::max(border.widest(), std::isnan(width) ? 0 : width);
    std::vector<Border::Near> near = border.near_line(reach);
    return PreparedRow([&part, &surface = task.surface.surface(), at, shift, width, border = std::move(border),
                        near = std::move(near)](std::size_t k, EditRow& row) {
        const std::uint32_t node = surface.node_of[at[k]];
        if (node == no_index || near[node].piece == no_index) return;
        const double before = border.part_at(node), old_width = border.width_at(near[node].piece);
        if (std::isnan(before)) return;
        const double change = profile(near[node].distance + shift, std::isnan(width) ? old_width : width) -
                              profile(near[node].distance, old_width);
        if (change == 0) return;
        const double after = std::clamp(before + change, 0.0, 1.0);
        row = {{part.joints[0], after}, {part.joints[1], 1 - after}};
    });
}

}  // namespace sinew
