// Simple shapes whose volume, distance or weights are known, and characters made of them.
#pragma once

#include <functional>
#include <vector>

#include "characters.h"
#include "implicit.h"

namespace sinew::test {

/// Closed, manifold and facing outwards unless the comment says "open".
struct Shape {
    std::vector<Vec3> positions;
    std::vector<Triangle> triangles;
};

void append(Shape& to, const Shape& shape);

/// n × n quads a side, corners welded.
Shape box(P3 centre, P3 half, int n = 1, Frame axes = {});
/// A box without some of its faces: bit 0 = -x, 1 = +x, 2 = -y, 3 = +y, 4 = -z, 5 = +z. Open.
Shape open_box(P3 centre, P3 half, int n, unsigned missing);
/// Icosahedron, each triangle cut in four `levels` times: 10·4^levels + 2 vertices, all on the sphere.
Shape sphere(P3 centre, double radius, int levels = 2);
/// Around the y axis.
Shape torus(double ring_radius, double tube_radius, int around, int along);
/// A tube along a path that lies in one plane (normal: the plane's), with flat caps; radius per point of the path.
Shape tube(const std::vector<P3>& path, const std::vector<double>& radius, P3 normal, int around);
Shape cylinder(P3 from, P3 to, double radius, int around = 16, int rings = 2);
/// The outside of a set of unit cells, each side cut into n × n quads. Cells that meet in no more than an edge make
/// a non-manifold one.
Shape cells(const std::function<bool(int, int, int)>& filled, int nx, int ny, int nz, int n, double size);
/// A rectangle around `centre`, spanned by the half axes u and v; faces towards u × v. Open.
Shape sheet(P3 centre, P3 u, P3 v, int nu, int nv);
/// One box inside another. Both face outwards.
Shape nested_boxes(int n = 8);
/// A cube of half side 1 with two closed boxes through its +x and +y sides. Its middle is inside, but only one of
/// three view pairs agrees: an ambiguous voxel as in fig. 4 of Dionne and de Lasa.
Shape intersecting_shells(int n = 8);

/// A round bar from x = -1 to 1, radius 0.1, joints bar_a at -1 and bar_b at 0 (tail at 1).
Character bar(int rings = 64);
/// Two upright legs, 0.3 apart, joined below by a half circle: radius 0.1, joints left (top of one leg), bend (at
/// the bottom) and right (where the other leg begins; tail at its top). The gap between the legs is 0.1.
Character u_tube(int rings = 96);
/// Three unit cells in an L; joints corner_x (tail to the end along x) and corner_y (the other leg).
Character l_corner(int n = 8);
/// A flat open strip along x with two joints.
Character strip(int n = 32);

}  // namespace sinew::test
