// Organic bodies: limbs of round cones and ellipsoids, blended smoothly, and a mesher that makes a closed manifold
// surface with cells of variable size.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sinew/core.h"

namespace sinew::test {

/// Points in double, so that a character has the same bits on every machine.
struct P3 {
    double x = 0, y = 0, z = 0;
    double operator[](int axis) const { return axis == 0 ? x : axis == 1 ? y : z; }
};
inline P3 operator+(P3 a, P3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline P3 operator-(P3 a, P3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline P3 operator*(double s, P3 a) { return {s * a.x, s * a.y, s * a.z}; }
inline double dot(P3 a, P3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline P3 cross(P3 a, P3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
inline double length(P3 a) { return std::sqrt(dot(a, a)); }
P3 unit(P3 a);
/// v rotated about a unit axis, counter-clockwise seen from its tip.
P3 turned(P3 v, P3 axis, double radians);
inline Vec3 to_vec3(P3 p) { return {static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)}; }

/// Axes of a part of the body; orthonormal.
struct Frame {
    P3 x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};
};

/// A limb: blobs that blend with each other, and limbs that grow out of it. Two limbs of one parent blend with
/// the parent and not with each other, so that adjacent fingers, legs and arms stay separate.
class Limb {
public:
    /// Rounding of the surface in metres. blend: between blobs. join: between the limb and its parent. web: between
    /// two of its children.
    explicit Limb(double blend = 0, double join = 0, double web = 0) : blend_(blend), join_(join), web_(web) {}

    /// A sphere of radius ra at a, swept to one of radius rb at b. `part`: the result of Limb::part for its
    /// surface.
    void cone(std::uint32_t part, P3 a, double ra, P3 b, double rb);
    void ellipsoid(std::uint32_t part, P3 centre, P3 radii, Frame axes = {});
    /// A box with rounded edges; half: half sizes, edges included.
    void box(std::uint32_t part, P3 centre, P3 half, double edge, Frame axes = {});
    void grow(Limb child) { children_.push_back(std::move(child)); }

    /// Negative inside. Close to the distance near the surface, never more than it far away.
    double distance(P3 p) const;
    /// The part of the blob that is nearest to p.
    std::uint32_t part(P3 p) const;
    /// Computes the bounding spheres; call once when the limb is complete.
    void finish();

private:
    struct Blob {
        enum class Kind { cone, ellipsoid, box } kind;
        std::uint32_t part;
        P3 a, b;  // cone: ends; else: centre, radii or half sizes
        double ra = 0, rb = 0;
        Frame axes;
        P3 middle;          // of the bounding sphere
        double radius = 0;  // of the bounding sphere
        double distance(P3 p) const;
    };
    /// A lower bound of the distance to every blob.
    double bound(P3 p) const { return length(p - centre_) - radius_; }
    void nearest(P3 p, double& best, std::uint32_t& part) const;

    std::vector<Blob> blobs_;
    std::vector<Limb> children_;
    double blend_, join_, web_;
    P3 centre_, own_centre_;  // bounding spheres: of everything, of the blobs
    double radius_ = 0, own_radius_ = 0;
};

/// The smaller of a and b, rounded where they differ by less than k.
inline double smooth_min(double a, double b, double k) {
    if (k <= 0) return std::min(a, b);
    // Cubic, so that the curvature of the blend has no jump.
    const double h = std::max(k - std::abs(a - b), 0.0) / k;
    return std::min(a, b) - h * h * h * k / 6;
}

struct ImplicitMesh {
    std::vector<P3> positions;
    std::vector<Triangle> triangles;
};

/// Dual contouring on an octree: one vertex per cell and sheet of the surface in it, one polygon per crossed edge,
/// then relaxed along the surface. Always closed; manifold except for rare knots within a cell, which tests detect.
/// cell_size: the wanted size of cells at a point, at least `finest`; it should change slowly.
/// stored_as: the name of the file from which another process of this build takes the mesh; empty: none. It must
/// name everything that the mesh depends on, but not the code: the build empties the store when that changes.
ImplicitMesh mesh_of(const std::function<double(P3)>& field, const std::function<double(P3)>& cell_size, P3 centre,
                     double extent, double finest, const std::string& stored_as = {});

}  // namespace sinew::test
