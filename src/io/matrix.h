// 4x4 matrices in double, column vectors, as glTF writes them (column by column).
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "sinew/skeleton.h"
#include "sinew/weights.h"

namespace sinew::io {

struct Matrix {
    std::array<double, 16> m{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    double operator()(std::size_t row, std::size_t column) const { return m[column * 4 + row]; }
    double& operator()(std::size_t row, std::size_t column) { return m[column * 4 + row]; }
    friend bool operator==(const Matrix&, const Matrix&) = default;
};

inline Matrix to_matrix(const Transform& t) {
    Matrix out;
    for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 4; ++c) out(r, c) = t(r, c);
    return out;
}

inline Transform to_transform(const Matrix& m) {
    Transform out;
    for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 4; ++c) out(r, c) = m(r, c);
    return out;
}

inline Matrix operator*(const Matrix& a, const Matrix& b) {
    Matrix out;
    for (std::size_t c = 0; c < 4; ++c)
        for (std::size_t r = 0; r < 4; ++r) {
            double sum = 0;
            for (std::size_t k = 0; k < 4; ++k) sum += a(r, k) * b(k, c);
            out(r, c) = sum;
        }
    return out;
}

inline std::array<double, 3> transform_point(const Matrix& a, double x, double y, double z) {
    return {a(0, 0) * x + a(0, 1) * y + a(0, 2) * z + a(0, 3), a(1, 0) * x + a(1, 1) * y + a(1, 2) * z + a(1, 3),
            a(2, 0) * x + a(2, 1) * y + a(2, 2) * z + a(2, 3)};
}

/// Of the upper left three by three.
inline double determinant(const Matrix& a) {
    return a(0, 0) * (a(1, 1) * a(2, 2) - a(1, 2) * a(2, 1)) - a(0, 1) * (a(1, 0) * a(2, 2) - a(1, 2) * a(2, 0)) +
           a(0, 2) * (a(1, 0) * a(2, 1) - a(1, 1) * a(2, 0));
}

/// Gauss-Jordan with row pivots; empty where the matrix is singular or not finite. Rows are scaled first: bind
/// matrices of quantised meshes have scales of 1e-5 and 1 together and are still well conditioned after that.
inline std::optional<Matrix> inverse_by_elimination(Matrix a) {
    Matrix out;
    for (std::size_t r = 0; r < 4; ++r) {
        double largest = 0;
        for (std::size_t c = 0; c < 4; ++c) {
            if (!std::isfinite(a(r, c))) return std::nullopt;
            largest = std::max(largest, std::abs(a(r, c)));
        }
        if (largest == 0) return std::nullopt;
        for (std::size_t c = 0; c < 4; ++c) {
            a(r, c) /= largest;
            out(r, c) /= largest;
        }
    }
    for (std::size_t i = 0; i < 4; ++i) {
        std::size_t pivot = i;
        for (std::size_t r = i + 1; r < 4; ++r)
            if (std::abs(a(r, i)) > std::abs(a(pivot, i))) pivot = r;
        if (std::abs(a(pivot, i)) < 1e-12) return std::nullopt;
        for (std::size_t c = 0; c < 4; ++c) {
            std::swap(a(i, c), a(pivot, c));
            std::swap(out(i, c), out(pivot, c));
        }
        const double scale = 1 / a(i, i);
        for (std::size_t c = 0; c < 4; ++c) {
            a(i, c) *= scale;
            out(i, c) *= scale;
        }
        for (std::size_t r = 0; r < 4; ++r) {
            if (r == i) continue;
            const double factor = a(r, i);
            if (factor == 0) continue;
            for (std::size_t c = 0; c < 4; ++c) {
                a(r, c) -= factor * a(i, c);
                out(r, c) -= factor * out(i, c);
            }
        }
    }
    for (const double v : out.m)
        if (!std::isfinite(v)) return std::nullopt;
    return out;
}

/// Empty where the matrix is singular or not finite.
inline std::optional<Matrix> inverse(const Matrix& a) {
    if (const std::optional<Matrix> found = inverse_by_elimination(a)) return found;
    // A large translation next to a small scale looks singular; without it the matrix may not be.
    if (!(a(3, 0) == 0 && a(3, 1) == 0 && a(3, 2) == 0 && a(3, 3) == 1)) return std::nullopt;
    Matrix linear = a;
    for (std::size_t r = 0; r < 3; ++r) linear(r, 3) = 0;
    std::optional<Matrix> out = inverse_by_elimination(linear);
    for (std::size_t r = 0; out && r < 3; ++r) {
        (*out)(r, 3) = -((*out)(r, 0) * a(0, 3) + (*out)(r, 1) * a(1, 3) + (*out)(r, 2) * a(2, 3));
        if (!std::isfinite((*out)(r, 3))) return std::nullopt;
    }
    return out;
}

/// The mean of matrices by the weights of a row that is not empty: of(joint) is a matrix.
template <typename Of>
Matrix blended(std::span<const Influence> row, const Of& of) {
    Matrix out;
    out.m.fill(0);
    double sum = 0;
    for (const Influence& i : row) {
        const Matrix& part = of(i.joint);
        for (std::size_t k = 0; k < 16; ++k) out.m[k] += double{i.weight} * part.m[k];
        sum += double{i.weight};
    }
    for (double& x : out.m) x /= sum;
    return out;
}

/// Scale, then rotation (a unit quaternion x, y, z, w), then translation, as nodes have them.
inline Matrix compose(const std::array<double, 3>& t, const std::array<double, 4>& q,
                      const std::array<double, 3>& s) {
    const auto [x, y, z, w] = q;
    const double rotation[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                                   {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                                   {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}};
    Matrix out;
    for (std::size_t r = 0; r < 3; ++r) {
        for (std::size_t c = 0; c < 3; ++c) out(r, c) = rotation[r][c] * s[c];
        out(r, 3) = t[r];
    }
    return out;
}

inline Matrix translation(double x, double y, double z) {
    Matrix out;
    out(0, 3) = x;
    out(1, 3) = y;
    out(2, 3) = z;
    return out;
}

}  // namespace sinew::io
