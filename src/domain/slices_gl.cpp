// Interior by slices of the z-buffer, as in Dionne and de Lasa 2014, sections 5.1 and 8, through OpenGL.
//
// For each of six views and each slice, the near plane is at the slice. Back faces are drawn in white, then front
// faces in black. A white pixel is an interior voxel for this view. As in the paper, the slices of a view are the
// bits of one picture. Three properties make this cheap and exact:
//
// - Slices are drawn from the farthest to the nearest, into one picture and one z-buffer. A slice differs
//   from the one behind it only by triangles between the two planes, so only triangles that reach into that slab
//   are drawn. Drawing sets or clears (GL_OR, GL_AND) the bits of the current slice and of all later ones. Pixels
//   have 4 x 32 bits, so a read-back brings 128 slices: 12 at resolution 256, where the paper needed 48 of 1,536.
// - Rasterisers snap corners to 1/256 pixel as a rule, the lattice is 1/512 voxel. So a voxel takes 2 x 2 pixels,
//   and the centre of one of them is the centre of the voxel's column. No rounding is involved.
// - Interpolated depth is poor where a triangle is seen nearly edge-on, so the fragment shader computes it from
//   the corners, in double precision, rounds it to 1/16 lattice unit as columns.cpp does, and compares it with
//   the near plane. Clipping at the near plane would move edges.
//
// The driver decides which triangle owns a sample exactly on an edge. The views look from +u or -v
// so that the rule of Mesa's software rasteriser is the half-open rule of columns.cpp; another driver may differ in
// columns that pass exactly through an edge (tests/gl/compare_votes.h tells those apart).

#include <algorithm>
#include <bit>
#include <climits>
#include <cmath>

#include "core/lists.h"
#include "core/parallel.h"
#include "core/try.h"
#include "domain/lattice.h"
#include "gl/context.h"
#include "sinew/voxels.h"

namespace sinew {
namespace {

constexpr int kBits = 128;        // slices per pixel of the picture
constexpr int kSubpixelBits = 9;  // of a lattice of 1/512
static_assert(kVoxel == 1 << kSubpixelBits);

// Corners in window coordinates, exactly: all factors are powers of two.
constexpr const char* kSliceVertex = R"(#version 450 core
layout(location = 0) in ivec3 corner;
layout(location = 0) uniform ivec3 axes;
layout(location = 1) uniform vec4 to_clip;  // scale and shift
flat out uint triangle;
void main() {
    triangle = uint(gl_VertexID) / 3u;
    gl_Position = vec4(vec2(corner[axes.x], corner[axes.y]) * to_clip.xy + to_clip.zw, 0, 1);
}
)";

// Depth is 0 at the near end of the grid; its unit is 2^-23 of the range, which floats represent exactly.
constexpr const char* kSliceFragment = R"(#version 450 core
layout(std430, binding = 0) readonly buffer Corners { int corner[]; };
layout(location = 0) uniform ivec3 axes;
layout(location = 2) uniform ivec2 grid;   // pixels per voxel, columns a side
layout(location = 3) uniform ivec3 depth;  // units of the whole grid (0 = seen from below), sign, near plane
layout(location = 4) uniform uvec4 bits;
flat in uint triangle;
layout(location = 0) out uvec4 slices;

double cross_of(dvec2 a, dvec2 b) { return a.x * b.y - a.y * b.x; }

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    if (any(notEqual(pixel % grid.x, ivec2(0)))) discard;
    ivec2 column = pixel / grid.x;
    column.y = grid.y - 1 - column.y;
    dvec2 at = dvec2(column * 512 + 256);
    dvec2 p[3];
    double w[3];
    for (int k = 0; k < 3; ++k) {
        uint first = 9u * triangle + 3u * uint(k);
        p[k] = dvec2(corner[first + axes.x], corner[first + axes.y]);
        w[k] = double(corner[first + axes.z]);
    }
    double a = cross_of(p[2] - p[1], at - p[1]);
    double b = cross_of(p[0] - p[2], at - p[2]);
    double c = cross_of(p[1] - p[0], at - p[0]);
    double along = (a * w[0] + b * w[1] + c * w[2]) / (a + b + c);
    along = clamp(along, min(w[0], min(w[1], w[2])), max(w[0], max(w[1], w[2])));
    int units = depth.x + depth.y * int(floor(along * 16 + 0.5));
    if (units < depth.z) discard;
    gl_FragDepth = float(units) * exp2(-23.0);
    slices = bits;
}
)";

constexpr const char* kScreenVertex = R"(#version 450 core
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1, 0, 1); }
)";

// Selects the pixels at the centres of columns.
constexpr const char* kPickFragment = R"(#version 450 core
layout(location = 2) uniform int samples;
layout(binding = 0) uniform usampler2D picture;
layout(location = 0) out uvec4 slices;
void main() { slices = texelFetch(picture, ivec2(gl_FragCoord.xy) * samples, 0); }
)";

// The first slice of a picture starts with the content of the last slice of the previous picture.
constexpr const char* kCarryFragment = R"(#version 450 core
layout(location = 2) uniform int samples;
layout(binding = 0) uniform usampler2D picked;
layout(location = 0) out uvec4 slices;
void main() { slices = uvec4(-(texelFetch(picked, ivec2(gl_FragCoord.xy) / samples, 0).w >> 31)); }
)";

// The triangles between the planes of a slice and of the one before it, slice by slice, as a view along `axis`
// draws them: those that end are dropped, those that begin are added.
class Slabs {
public:
    using Corners = std::array<std::uint32_t, 3>;

    Slabs(const Lattice& lattice, int axis, bool from_above) : last_(lattice.triangles.size()) {
        const int r = lattice.resolution;
        std::vector<std::uint16_t> first(last_.size());
        const auto slab_of = [](std::int32_t w) { return floor_div(w - kCentre, kVoxel) + 1; };
        for (std::size_t t = 0; t < last_.size(); ++t) {
            const auto p = lattice.outward(t);
            const auto [low, high] = std::minmax({p[0].c[axis], p[1].c[axis], p[2].c[axis]});
            first[t] = static_cast<std::uint16_t>(from_above ? slab_of(low) : r - slab_of(high));
            last_[t] = static_cast<std::uint16_t>(from_above ? slab_of(high) : r - slab_of(low));
        }
        begins_ = Lists(static_cast<std::size_t>(r) + 1, nullptr, [&](const auto& to) {
            for (std::uint32_t t = 0; t < first.size(); ++t) to(first[t], t);
        });
    }

    // Of the next step; valid until the next call. Each step takes its turn.
    std::span<const Corners> at(int step) {
        std::erase_if(open_, [&](const Corners& c) { return last_[c[0] / 3] < step; });
        for (const std::uint32_t t : begins_.of(static_cast<std::size_t>(step)))
            open_.push_back({3 * t, 3 * t + 1, 3 * t + 2});
        return open_;
    }

private:
    std::vector<std::uint16_t> last_;  // T: the last step in which it is drawn
    Lists begins_;                     // triangles by their first step
    std::vector<Corners> open_;
};

// A picture of r x r pixels for a group of 128 slices: four words a pixel.
using Picture = std::vector<std::uint32_t>;

class Slicer {
public:
    static Result<Slicer> create(const Lattice& lattice, SliceReport& report) {
        SINEW_TRY_LET(std::unique_ptr<gl::GlContext> context, gl::GlContext::create());
        Slicer s(lattice, report, std::move(context));
        SINEW_TRY(s.prepare());
        return s;
    }

    // One view along `axis`, from below (looking up) or from above. Passes on the picture of each group of slices,
    // from the farthest to the nearest; its bits have the same order.
    template <typename Take>
    Status view(int axis, bool from_above, Context* context, Take&& take) {
        Slabs slabs(lattice_, axis, from_above);
        const int r = lattice_.resolution;
        const int axes[3] = {(axis + 1) % 3, (axis + 2) % 3, axis};
        glProgramUniform3iv(slice_, 0, 1, axes);
        // Corners are counter-clockwise from outside, and the picture is what one sees from below.
        glFrontFace(from_above ? GL_CW : GL_CCW);
        const GLfloat far = 1;
        glClearNamedFramebufferfv(target_, GL_DEPTH, 0, &far);
        const GLuint black[4] = {0, 0, 0, 0};
        glClearNamedFramebufferuiv(target_, GL_COLOR, 0, black);

        for (int step = 0; step < r; ++step) {
            if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while voxelizing"};
            const int slice = from_above ? step : r - 1 - step;
            if (step % kBits == 0 && step > 0) carry();
            draw(step, slice, from_above, slabs.at(step));
            if ((step + 1) % kBits == 0 || step + 1 == r) {
                SINEW_TRY(read());
                take(step / kBits, picture_);
            }
        }
        return gl::check_gl("slicing");
    }

private:
    Slicer(const Lattice& lattice, SliceReport& report, std::unique_ptr<gl::GlContext> context)
        : lattice_(lattice), report_(report), context_(std::move(context)) {}

    Status prepare() {
        const int r = lattice_.resolution;
        GLint subpixel_bits = 0, largest_block = 0;
        glGetIntegerv(GL_SUBPIXEL_BITS, &subpixel_bits);
        glGetIntegerv(GL_MAX_SHADER_STORAGE_BLOCK_SIZE, &largest_block);
        if (Status ok =
                check_slices({r, lattice_.triangles.size()}, {context_->max_size(), subpixel_bits, largest_block});
            !ok)
            return ok;
        samples_ = samples_per_voxel(subpixel_bits);
        report_.renderer = context_->renderer();
        report_.pixels = samples_ * r;

        SINEW_TRY_LET(gl::Program slice, gl::make_program("slices", kSliceVertex, kSliceFragment));
        slice_ = std::move(slice);
        SINEW_TRY_LET(pick_, gl::make_program("pick", kScreenVertex, kPickFragment));
        SINEW_TRY_LET(carry_, gl::make_program("carry", kScreenVertex, kCarryFragment));
        glProgramUniform2i(slice_, 2, samples_, r);
        glProgramUniform1i(pick_, 2, samples_);
        glProgramUniform1i(carry_, 2, samples_);
        // Lattice to clip space, the second axis upside down. With two pixels per voxel the grid moves by half a
        // pixel, so that centres of columns become centres of pixels.
        const float scale = 2.0f / static_cast<float>(kVoxel * r);
        const float shift = static_cast<float>(samples_ - 1) / static_cast<float>(report_.pixels);
        glProgramUniform4f(slice_, 1, scale, -scale, -1 - shift, 1 - shift);

        std::vector<std::array<LatticePoint, 3>> corners(lattice_.triangles.size());
        for (std::size_t t = 0; t < corners.size(); ++t) corners[t] = lattice_.outward(t);
        static_assert(sizeof corners[0] == 36);
        corners_ = gl::make_buffer(corners.data(), corners.size() * sizeof corners[0]);
        array_ = gl::make_array();
        glVertexArrayVertexBuffer(array_, 0, corners_, 0, sizeof(LatticePoint));
        glVertexArrayAttribIFormat(array_, 0, 3, GL_INT, 0);
        glVertexArrayAttribBinding(array_, 0, 0);
        glEnableVertexArrayAttrib(array_, 0);
        screen_ = gl::make_array();

        full_ = gl::make_texture_2d(GL_RGBA32UI, report_.pixels, report_.pixels);
        picked_ = gl::make_texture_2d(GL_RGBA32UI, r, r);
        depth_ = gl::make_renderbuffer();
        glNamedRenderbufferStorage(depth_, GL_DEPTH_COMPONENT32F, report_.pixels, report_.pixels);
        target_ = gl::make_framebuffer();
        glNamedFramebufferTexture(target_, GL_COLOR_ATTACHMENT0, full_, 0);
        glNamedFramebufferRenderbuffer(target_, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, depth_);
        small_ = gl::make_framebuffer();
        glNamedFramebufferTexture(small_, GL_COLOR_ATTACHMENT0, picked_, 0);
        SINEW_TRY(gl::check_gl("preparing to slice"));
        if (!gl::complete({target_, small_}))
            return Error{ErrorCode::io, "OpenGL: " + report_.renderer +
                                            " cannot draw into pictures of 4 x 32 bits a pixel; use voxelizer cpu"};
        picture_.resize(std::size_t{4} * r * r);
        glDepthFunc(GL_LESS);
        glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, corners_);
        return Done{};
    }

    void draw(int step, int slice, bool from_above, std::span<const Slabs::Corners> triangles) {
        const int r = lattice_.resolution;
        if (triangles.empty()) return;
        const gl::Buffer indices = gl::make_buffer(triangles.data(), triangles.size_bytes());
        glVertexArrayElementBuffer(array_, indices);
        constexpr int unit = kVoxel * kDepthUnits;
        const int plane = slice * unit + unit / 2;
        if (from_above) {
            glProgramUniform3i(slice_, 3, r * unit, -1, r * unit - plane);
        } else {
            glProgramUniform3i(slice_, 3, 0, 1, plane);
        }
        GLuint bits[4], others[4];
        for (int k = 0; k < 4; ++k) {
            const int first = step % kBits - 32 * k;  // bits from here on belong to this slice and later ones
            bits[k] = first >= 32 ? 0u : first <= 0 ? ~0u : ~0u << first;
            others[k] = ~bits[k];
        }
        glBindFramebuffer(GL_DRAW_FRAMEBUFFER, target_);
        glViewport(0, 0, report_.pixels, report_.pixels);
        glBindVertexArray(array_);
        glUseProgram(slice_);
        glEnable(GL_DEPTH_TEST);
        glEnable(GL_CULL_FACE);
        glEnable(GL_COLOR_LOGIC_OP);
        const auto pass = [&](GLenum culled, GLenum operation, const GLuint* value) {
            glCullFace(culled);
            glLogicOp(operation);
            glProgramUniform4uiv(slice_, 4, 1, value);
            glDrawElements(GL_TRIANGLES, static_cast<GLsizei>(3 * triangles.size()), GL_UNSIGNED_INT, nullptr);
            ++report_.draws;
        };
        pass(GL_FRONT, GL_OR, bits);
        pass(GL_BACK, GL_AND, others);
        glDisable(GL_COLOR_LOGIC_OP);
        glDisable(GL_CULL_FACE);
        glDisable(GL_DEPTH_TEST);
    }

    void screen_pass(GLuint program, GLuint from, GLuint framebuffer, int pixels) {
        glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
        glViewport(0, 0, pixels, pixels);
        glBindVertexArray(screen_);
        glUseProgram(program);
        glBindTextureUnit(0, from);
        glDrawArrays(GL_TRIANGLES, 0, 3);
    }
    void carry() { screen_pass(carry_, picked_, target_, report_.pixels); }

    Status read() {
        const int r = lattice_.resolution;
        screen_pass(pick_, full_, small_, r);
        glBindFramebuffer(GL_READ_FRAMEBUFFER, small_);
        glReadPixels(0, 0, r, r, GL_RGBA_INTEGER, GL_UNSIGNED_INT, picture_.data());
        ++report_.read_backs;
        return gl::check_gl("reading slices");
    }

    const Lattice& lattice_;
    SliceReport& report_;
    std::unique_ptr<gl::GlContext> context_;  // declared before its objects
    int samples_ = 1;
    gl::Program slice_, pick_, carry_;
    gl::Buffer corners_;
    gl::VertexArray array_, screen_;
    gl::Texture full_, picked_;
    gl::Renderbuffer depth_;
    gl::Framebuffer target_, small_;
    Picture picture_;
};

std::uint32_t reversed(std::uint32_t x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
    return x >> 16 | x << 16;
}

// Sets the voxels that are inside for a pair of views (equation 5): a group of 128 slices from above, and all
// groups from below, with bits in reverse order.
void pair_up(BitGrid& inside, int axis, int group, const Picture& above, const std::vector<Picture>& below,
             ViewPairs pairs, Context* context) {
    const int r = inside.resolution(), words = r / 32;
    const auto row_of = [&](int j) {  // j: along the second axis of the picture
        for (int i = 0; i < r; ++i) {
            const std::size_t pixel = 4 * (static_cast<std::size_t>(r - 1 - j) * r + i);
            for (int k = 4 * group; k < std::min(4 * group + 4, words); ++k) {
                const int opposite = words - 1 - k;
                const std::uint32_t one = above[pixel + k % 4];
                const std::uint32_t other =
                    reversed(below[static_cast<std::size_t>(opposite / 4)][pixel + opposite % 4]);
                std::uint32_t internal = pairs == ViewPairs::both ? one & other : one | other;
                if (axis == 0) {
                    inside.words()[inside.index(32 * k, i, j)] |= std::uint64_t{internal} << (32 * k & 63);
                    continue;
                }
                for (; internal; internal &= internal - 1) {
                    const int w = 32 * k + std::countr_zero(internal);
                    axis == 1 ? inside.set(j, w, i) : inside.set(i, j, w);
                }
            }
        }
    };
    // 64 rows together: along x they share words.
    parallel_for(context, static_cast<std::size_t>(r), 64, [&](std::size_t j) { row_of(static_cast<int>(j)); });
}

}  // namespace

Status check_slices() { return Done{}; }

int samples_per_voxel(int subpixel_bits) { return 1 << std::max(0, kSubpixelBits - subpixel_bits); }

Status check_slices(const SliceSize& size, const SliceLimits& limits) {
    const int pixels = size.resolution * samples_per_voxel(limits.subpixel_bits);
    const std::string remedy = "; use a smaller resolution, or voxelizer cpu";
    if (pixels > limits.pixels)
        return Error{ErrorCode::too_large, "OpenGL: resolution " + std::to_string(size.resolution) +
                                               " takes a picture of " + std::to_string(pixels) + " x " +
                                               std::to_string(pixels) + " pixels, the driver draws at most " +
                                               std::to_string(limits.pixels) + remedy};
    const auto most = static_cast<std::size_t>(limits.block_bytes) / sizeof(LatticePoint[3]);
    if (size.triangles > most)
        return Error{ErrorCode::too_large, "OpenGL: the driver's buffers hold " + std::to_string(most) +
                                               " triangles, the mesh has " + std::to_string(size.triangles) +
                                               "; use voxelizer cpu"};
    return Done{};
}

Result<PairVotes> vote_by_slices(const Lattice& lattice, ViewPairs pairs, Context* context, SliceReport* report) {
    SliceReport unwanted;
    SINEW_TRY_LET(Slicer slicer, Slicer::create(lattice, report ? *report : unwanted));
    const int r = lattice.resolution;
    PairVotes votes;
    for (int axis = 0; axis < 3; ++axis) {
        BitGrid& inside = votes[static_cast<std::size_t>(axis)] = BitGrid(r);
        std::vector<Picture> below;
        SINEW_TRY(
            slicer.view(axis, false, context, [&](int, const Picture& picture) { below.push_back(picture); }));
        SINEW_TRY(slicer.view(axis, true, context, [&](int group, const Picture& picture) {
            pair_up(inside, axis, group, picture, below, pairs, context);
        }));
    }
    return votes;
}

}  // namespace sinew
