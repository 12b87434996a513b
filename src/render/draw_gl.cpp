// A tile is drawn in four steps: its depth with a margin around it, from that the ambient occlusion, then the
// figure at twice the size with four samples a pixel, then the bones over it. See shaders_gl.h.

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "core/try.h"
#include "gl/context.h"
#include "render/draw.h"
#include "render/oklab.h"
#include "render/shaders_gl.h"

namespace sinew {
namespace {

using namespace gl;

constexpr int kTile = 1024;  // pixels along a side
constexpr int kSuper = 2;
constexpr int kSamples = 4;

/// Linear light of 8-bit sRGB in 16 bits, and the inverse: for exact means of four pixels.
struct LightTable {
    std::array<std::uint16_t, 256> light;
    std::vector<std::uint8_t> code;
    LightTable() : code(65536) {
        for (std::size_t i = 0; i < 256; ++i)
            light[i] = static_cast<std::uint16_t>(std::lround(65535 * to_linear(static_cast<std::uint8_t>(i))));
        std::size_t c = 0;
        for (std::size_t i = 0; i < code.size(); ++i) {
            while (c < 255 && 2 * i >= static_cast<std::size_t>(light[c]) + light[c + 1]) ++c;
            code[i] = static_cast<std::uint8_t>(c);
        }
    }
};

struct Target {
    Texture depth, occlusion, blurred, resolved;
    Renderbuffer colour, colour_depth;
    Framebuffer depth_frame, occlusion_frame, blur_frame, frame, resolve_frame;
    int width = 0, height = 0, margin = -1;
};

Result<Target> make_target(int width, int height, int margin) {
    Target t;
    t.width = width;
    t.height = height;
    t.margin = margin;
    const int w = width + 2 * margin, h = height + 2 * margin;
    t.depth = make_texture_2d(GL_DEPTH_COMPONENT32F, w, h);
    t.depth_frame = make_framebuffer();
    glNamedFramebufferTexture(t.depth_frame, GL_DEPTH_ATTACHMENT, t.depth, 0);
    glNamedFramebufferDrawBuffer(t.depth_frame, GL_NONE);
    t.occlusion = make_texture_2d(GL_R8, w, h);
    t.occlusion_frame = make_framebuffer();
    glNamedFramebufferTexture(t.occlusion_frame, GL_COLOR_ATTACHMENT0, t.occlusion, 0);
    t.blurred = make_texture_2d(GL_R8, w, h, GL_LINEAR);
    t.blur_frame = make_framebuffer();
    glNamedFramebufferTexture(t.blur_frame, GL_COLOR_ATTACHMENT0, t.blurred, 0);
    t.colour = make_renderbuffer();
    t.colour_depth = make_renderbuffer();
    glNamedRenderbufferStorageMultisample(t.colour, kSamples, GL_SRGB8_ALPHA8, kSuper * width, kSuper * height);
    glNamedRenderbufferStorageMultisample(t.colour_depth, kSamples, GL_DEPTH_COMPONENT32F, kSuper * width,
                                          kSuper * height);
    t.frame = make_framebuffer();
    glNamedFramebufferRenderbuffer(t.frame, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, t.colour);
    glNamedFramebufferRenderbuffer(t.frame, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, t.colour_depth);
    t.resolved = make_texture_2d(GL_SRGB8_ALPHA8, kSuper * width, kSuper * height);
    t.resolve_frame = make_framebuffer();
    glNamedFramebufferTexture(t.resolve_frame, GL_COLOR_ATTACHMENT0, t.resolved, 0);
    SINEW_TRY(check_gl("allocating a picture"));
    if (!complete({t.depth_frame, t.occlusion_frame, t.blur_frame, t.frame, t.resolve_frame}))
        return Error{ErrorCode::too_large, "OpenGL: cannot allocate a framebuffer"};
    return t;
}

/// Triangles in graphics memory, and those that a tile shows.
struct Batch {
    Buffer buffer;
    VertexArray array;
    GLsizei count = 0;  // corners, or faces

    void describe_corners() {
        array = make_array();
        glVertexArrayVertexBuffer(array, 0, buffer, 0, sizeof(Corner));
        auto attribute = [&](GLuint index, GLint size, GLenum type, GLboolean normalised, std::size_t offset) {
            glEnableVertexArrayAttrib(array, index);
            glVertexArrayAttribFormat(array, index, size, type, normalised, static_cast<GLuint>(offset));
            glVertexArrayAttribBinding(array, index, 0);
        };
        attribute(0, 3, GL_FLOAT, GL_FALSE, offsetof(Corner, x));
        attribute(1, 3, GL_BYTE, GL_TRUE, offsetof(Corner, normal));
        attribute(2, 4, GL_UNSIGNED_BYTE, GL_TRUE, offsetof(Corner, colour));
        attribute(3, 1, GL_FLOAT, GL_FALSE, offsetof(Corner, value));
    }
    void describe_faces() {
        static_assert(sizeof(VoxelFace) == 8);
        array = make_array();
        glVertexArrayVertexBuffer(array, 0, buffer, 0, sizeof(VoxelFace));
        glVertexArrayBindingDivisor(array, 0, 1);
        glEnableVertexArrayAttrib(array, 0);
        glVertexArrayAttribIFormat(array, 0, 4, GL_UNSIGNED_SHORT, 0);
        glVertexArrayAttribBinding(array, 0, 0);
    }
};

Batch upload(const std::vector<Corner>& corners) {
    Batch batch;
    batch.count = static_cast<GLsizei>(corners.size());
    if (corners.empty()) return batch;
    batch.buffer = make_buffer(corners.data(), corners.size() * sizeof(Corner));
    batch.describe_corners();
    return batch;
}

Batch upload(const std::vector<VoxelFace>& faces) {
    Batch batch;
    batch.count = static_cast<GLsizei>(faces.size());
    if (faces.empty()) return batch;
    batch.buffer = make_buffer(faces.data(), faces.size() * sizeof(VoxelFace));
    batch.describe_faces();
    return batch;
}

struct Window {
    double x, y, width, height;  // pixels of the panel, y up
};

/// The triangles that touch the window, in their order.
std::vector<Corner> within(const std::vector<Corner>& corners, const Window& w) {
    std::vector<Corner> out;
    for (std::size_t i = 0; i + 2 < corners.size(); i += 3) {
        const Corner &a = corners[i], &b = corners[i + 1], &c = corners[i + 2];
        if (std::max({a.x, b.x, c.x}) < w.x || std::min({a.x, b.x, c.x}) > w.x + w.width ||
            std::max({a.y, b.y, c.y}) < w.y || std::min({a.y, b.y, c.y}) > w.y + w.height)
            continue;
        out.insert(out.end(), &corners[i], &corners[i] + 3);
    }
    return out;
}

std::vector<VoxelFace> within(const Figure& figure, const Window& w) {
    const std::array<double, 12>& m = figure.voxel_to_pixel;
    const double reach = std::max(std::abs(m[0]) + std::abs(m[1]) + std::abs(m[2]),
                                  std::abs(m[4]) + std::abs(m[5]) + std::abs(m[6]));
    std::vector<VoxelFace> out;
    for (const VoxelFace& f : figure.faces) {
        const double x = m[0] * f.x + m[1] * f.y + m[2] * f.z + m[3],
                     y = m[4] * f.x + m[5] * f.y + m[6] * f.z + m[7];
        if (x < w.x - reach || x > w.x + w.width + reach || y < w.y - reach || y > w.y + w.height + reach) continue;
        out.push_back(f);
    }
    return out;
}

}  // namespace

struct Painter::Objects {
    std::unique_ptr<GlContext> context;
    Program surface, surface_depth, voxel, voxel_depth, occlusion, blur;
    VertexArray nothing;
    Target target;
    LightTable table;
};

Painter::Painter(std::unique_ptr<Objects> objects) : objects_(std::move(objects)) {}
Painter::Painter(Painter&&) noexcept = default;
Painter::~Painter() = default;

Result<Painter> Painter::create() {
    auto made = std::make_unique<Objects>();
    SINEW_TRY_LET(made->context, GlContext::create());
    struct ProgramSource {
        Program& program;
        const char *name, *vertex, *fragment;
    };
    for (const ProgramSource& wanted : {
             ProgramSource{made->surface, "surface", shaders::kSurfaceVertex, shaders::kSurfaceFragment},
             ProgramSource{made->surface_depth, "surface depth", shaders::kSurfaceVertex, shaders::kDepthFragment},
             ProgramSource{made->voxel, "voxels", shaders::kVoxelVertex, shaders::kSurfaceFragment},
             ProgramSource{made->voxel_depth, "voxel depth", shaders::kVoxelVertex, shaders::kDepthFragment},
             ProgramSource{made->occlusion, "occlusion", shaders::kFullVertex, shaders::kOcclusionFragment},
             ProgramSource{made->blur, "blur", shaders::kFullVertex, shaders::kBlurFragment},
         }) {
        SINEW_TRY_LET(wanted.program, make_program(wanted.name, wanted.vertex, wanted.fragment));
    }
    made->nothing = make_array();
    return Painter(std::move(made));
}

namespace {

GLint at(GLuint program, const char* name) { return glGetUniformLocation(program, name); }

void set_window(GLuint program, const Figure& figure, const Window& w) {
    glProgramUniform4f(program, at(program, "window"), static_cast<float>(w.x), static_cast<float>(w.y),
                       static_cast<float>(2 / w.width), static_cast<float>(2 / w.height));
    glProgramUniform2f(program, at(program, "range"), static_cast<float>(figure.near_z),
                       static_cast<float>(2 / (figure.near_z - figure.far_z)));
}

void set_voxels(GLuint program, const Figure& figure) {
    std::array<float, 12> columns;
    for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 4; ++c)
            columns[3 * c + r] = static_cast<float>(figure.voxel_to_pixel[4 * r + c]);
    glProgramUniformMatrix4x3fv(program, at(program, "to_pixel"), 1, GL_FALSE, columns.data());
    std::array<float, 18> directions;
    for (std::size_t d = 0; d < 6; ++d)
        for (std::size_t k = 0; k < 3; ++k) directions[3 * d + k] = static_cast<float>(figure.directions[d][k]);
    glProgramUniform3fv(program, at(program, "directions"), 6, directions.data());
    std::array<float, 3 * kVoxelKinds> kinds;
    for (std::size_t i = 0; i < kVoxelKinds; ++i) {
        const Linear light = to_linear(voxel_colour(static_cast<VoxelKind>(i)));
        for (std::size_t k = 0; k < 3; ++k) kinds[3 * i + k] = static_cast<float>(light[k]);
    }
    glProgramUniform3fv(program, at(program, "kinds"), kVoxelKinds, kinds.data());
}

Texture ramp_texture(Ramp ramp) {
    std::array<float, 256 * 3> light;
    for (std::size_t i = 0; i < 256; ++i) {
        const Linear c = to_linear(ramp_colour(ramp, static_cast<double>(i) / 255));
        for (std::size_t k = 0; k < 3; ++k) light[3 * i + k] = static_cast<float>(c[k]);
    }
    Texture t = make_texture_1d(GL_RGB32F, 256, GL_LINEAR);
    glTextureSubImage1D(t, 0, 0, 256, GL_RGB, GL_FLOAT, light.data());
    return t;
}

constexpr std::size_t kMostLines = 64;  // as in the shader

void set_paint(GLuint program, const Paint& paint) {
    const Legend& legend = paint.legend;
    glProgramUniform3f(program, at(program, "scale"), static_cast<float>(legend.low),
                       static_cast<float>(1 / (legend.high - legend.low)), paint.zero_is_plain ? 1.0f : 0.0f);
    std::array<float, kMostLines> lines{};
    const std::size_t count = std::min(paint.isolines.size(), kMostLines);
    for (std::size_t i = 0; i < count; ++i) lines[i] = static_cast<float>(paint.isolines[i]);
    glProgramUniform1i(program, at(program, "lines"), static_cast<GLint>(count));
    glProgramUniform1fv(program, at(program, "isoline"), static_cast<GLsizei>(count), lines.data());
}

/// In pieces: a driver without hardware may take minutes for what covers the picture many times.
void draw_batch(const Batch& batch, bool faces, const Context* context) {
    constexpr GLsizei piece = 4096;
    if (batch.count == 0) return;
    glBindVertexArray(batch.array);
    const GLsizei step = faces ? piece : 3 * piece;
    for (GLsizei first = 0; first < batch.count && !cancelled(context); first += step) {
        const GLsizei count = std::min(step, batch.count - first);
        faces ? glDrawArraysInstancedBaseInstance(GL_TRIANGLES, 0, 6, count, static_cast<GLuint>(first))
              : glDrawArrays(GL_TRIANGLES, first, count);
        if (batch.count > step) glFinish();
    }
}

/// The triangles of one tile.
struct TileBatches {
    Batch skin, faces, lines, bones;
};

}  // namespace

/// Draws one figure, tile by tile.
class Painter::FigurePainter {
public:
    FigurePainter(Objects& gl, const Figure& figure, const Box& box, Rgb background, Image& image, Context* context)
        : gl_(gl),
          figure_(figure),
          box_(box),
          image_(image),
          context_(context),
          across_((box.width + kTile - 1) / kTile),
          down_((box.height + kTile - 1) / kTile),
          width_((box.width + across_ - 1) / across_),
          height_((box.height + down_ - 1) / down_),
          margin_(static_cast<int>(std::ceil(figure.occlusion)) + 4),
          clear_(to_linear(background)),
          pixels_(4 * static_cast<std::size_t>(kSuper * width_) * static_cast<std::size_t>(kSuper * height_)) {}

    Status run() {
        SINEW_TRY(prepare_target());
        ramp_ = ramp_texture(figure_.paint ? figure_.paint->legend.ramp : Ramp::heat);
        set_uniforms();
        for (int ty = 0; ty < down_; ++ty)
            for (int tx = 0; tx < across_; ++tx) {
                // Rows of the image run down, pixels of the panel up.
                const int left = tx * width_, low = box_.height - (ty + 1) * height_;
                SINEW_TRY(draw_tile(left, low));
                if (cancelled(context_)) return Error{ErrorCode::cancelled, "cancelled while drawing"};
                copy_tile(left, low);
            }
        return Done{};
    }

private:
    int outer_width() const { return width_ + 2 * margin_; }
    int outer_height() const { return height_ + 2 * margin_; }

    Status prepare_target() {
        if (gl_.target.width == width_ && gl_.target.height == height_ && gl_.target.margin == margin_)
            return Done{};
        gl_.target = {};
        SINEW_TRY_LET(gl_.target, make_target(width_, height_, margin_));
        return Done{};
    }

    void set_uniforms() {
        if (figure_.paint && !figure_.paint->values.empty()) set_paint(gl_.surface, *figure_.paint);
        for (const GLuint program : {GLuint(gl_.voxel), GLuint(gl_.voxel_depth)}) set_voxels(program, figure_);
        for (const GLuint program : {GLuint(gl_.surface), GLuint(gl_.voxel)}) {
            glProgramUniform1i(program, at(program, "occlusion"), 0);
            glProgramUniform1i(program, at(program, "ramp"), 1);
            glProgramUniform1f(program, at(program, "supersampling"), kSuper);
            glProgramUniform1f(program, at(program, "opacity"), 1);
            glProgramUniform3f(program, at(program, "occlusion_at"), static_cast<float>(margin_),
                               1.0f / static_cast<float>(outer_width()), 1.0f / static_cast<float>(outer_height()));
        }
        for (const GLuint program : {GLuint(gl_.occlusion), GLuint(gl_.blur)}) {
            glProgramUniform1i(program, at(program, "depth"), 0);
            glProgramUniform1f(program, at(program, "deep"), static_cast<float>(figure_.near_z - figure_.far_z));
            glProgramUniform1f(program, at(program, "radius"), static_cast<float>(figure_.occlusion));
        }
        glProgramUniform1i(gl_.blur, at(gl_.blur, "occlusion"), 1);
    }

    Status draw_tile(int left, int low) {
        const Window inner{static_cast<double>(left), static_cast<double>(low), static_cast<double>(width_),
                           static_cast<double>(height_)};
        const Window outer{inner.x - margin_, inner.y - margin_, inner.width + 2 * margin_,
                           inner.height + 2 * margin_};
        const bool whole = across_ * down_ == 1;
        const TileBatches batches{upload(whole ? figure_.skin : within(figure_.skin, outer)),
                                  upload(whole ? figure_.faces : within(figure_, outer)),
                                  upload(whole ? figure_.lines : within(figure_.lines, outer)),
                                  upload(whole ? figure_.bones : within(figure_.bones, outer))};
        draw_depth(batches, outer);
        draw_occlusion(left, low);
        draw_surface(batches, inner);
        if (batches.lines.count) draw_lines(batches.lines);
        if (batches.bones.count) draw_bones(batches.bones);
        return read_pixels();
    }

    // One sample per pixel.
    void draw_depth(const TileBatches& batches, const Window& outer) {
        glDisable(GL_BLEND);
        glEnable(GL_DEPTH_TEST);
        glDepthFunc(GL_LESS);
        glDepthMask(GL_TRUE);
        glBindFramebuffer(GL_FRAMEBUFFER, gl_.target.depth_frame);
        glViewport(0, 0, outer_width(), outer_height());
        glClearDepth(1);
        glClear(GL_DEPTH_BUFFER_BIT);
        set_window(gl_.surface_depth, figure_, outer);
        set_window(gl_.voxel_depth, figure_, outer);
        glUseProgram(gl_.surface_depth);
        draw_batch(batches.skin, false, context_);
        glUseProgram(gl_.voxel_depth);
        draw_batch(batches.faces, true, context_);
    }

    // Ambient occlusion from depth.
    void draw_occlusion(int left, int low) {
        glDisable(GL_DEPTH_TEST);
        glDisable(GL_FRAMEBUFFER_SRGB);
        glBindVertexArray(gl_.nothing);
        glBindTextureUnit(0, gl_.target.depth);
        glBindFramebuffer(GL_FRAMEBUFFER, gl_.target.occlusion_frame);
        glUseProgram(gl_.occlusion);
        glProgramUniform2i(gl_.occlusion, at(gl_.occlusion, "origin"), left + 65536, low + 65536);
        glDrawArrays(GL_TRIANGLES, 0, 3);
        glBindTextureUnit(1, gl_.target.occlusion);
        glBindFramebuffer(GL_FRAMEBUFFER, gl_.target.blur_frame);
        glUseProgram(gl_.blur);
        glDrawArrays(GL_TRIANGLES, 0, 3);
    }

    void draw_surface(const TileBatches& batches, const Window& inner) {
        const Paint* const paint = figure_.paint;
        const bool by_value = paint && !paint->values.empty();
        const bool by_colour = paint && (!paint->colours.empty() || !paint->pieces.empty());
        glEnable(GL_DEPTH_TEST);
        glEnable(GL_FRAMEBUFFER_SRGB);
        glBindFramebuffer(GL_FRAMEBUFFER, gl_.target.frame);
        glViewport(0, 0, kSuper * width_, kSuper * height_);
        glClearColor(static_cast<float>(clear_[0]), static_cast<float>(clear_[1]), static_cast<float>(clear_[2]),
                     1);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        glBindTextureUnit(0, gl_.target.blurred);
        glBindTextureUnit(1, ramp_);
        set_window(gl_.surface, figure_, inner);
        set_window(gl_.voxel, figure_, inner);
        glProgramUniform1i(gl_.voxel, at(gl_.voxel, "mode"), 3);
        glProgramUniform1i(gl_.surface, at(gl_.surface, "mode"), by_value ? 2 : by_colour ? 1 : 0);
        glUseProgram(gl_.surface);
        draw_batch(batches.skin, false, context_);
        if (!figure_.faces.empty()) {
            glUseProgram(gl_.voxel);
            draw_batch(batches.faces, true, context_);
        }
    }

    // Whether lines are few enough to show through: where they cover the picture many times, they would make it one
    // grey, slowly.
    bool shows_hidden_lines() const {
        constexpr double most = 16;
        double area = 0;
        for (std::size_t i = 0; i + 5 < figure_.lines.size(); i += 6) {
            const Corner &a = figure_.lines[i], &b = figure_.lines[i + 1], &c = figure_.lines[i + 2];
            area += std::abs((double{b.x} - a.x) * (double{c.y} - a.y) - (double{b.y} - a.y) * (double{c.x} - a.x));
        }
        return area <= most * box_.width * box_.height;
    }

    // Lines on the surface; then, faintly, hidden lines.
    void draw_lines(const Batch& lines) {
        glUseProgram(gl_.surface);
        glProgramUniform1i(gl_.surface, at(gl_.surface, "mode"), 5);
        draw_batch(lines, false, context_);
        if (!shows_hidden_lines()) return;
        begin_blending(0.25f);
        glDepthMask(GL_FALSE);
        glDepthFunc(GL_GREATER);
        draw_batch(lines, false, context_);
        glDepthMask(GL_TRUE);
        glDepthFunc(GL_LESS);
        end_blending();
    }

    // Bones show through the surface. Their depth is drawn first, so that only the nearest of several is blended.
    void draw_bones(const Batch& bones) {
        glUseProgram(gl_.surface);
        glProgramUniform1i(gl_.surface, at(gl_.surface, "mode"), 4);
        glClear(GL_DEPTH_BUFFER_BIT);
        glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
        draw_batch(bones, false, context_);
        glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
        begin_blending(0.82f);
        glDepthFunc(GL_EQUAL);
        draw_batch(bones, false, context_);
        end_blending();
    }

    void begin_blending(float opacity) {
        glEnable(GL_BLEND);
        glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ZERO);
        glProgramUniform1f(gl_.surface, at(gl_.surface, "opacity"), opacity);
    }
    void end_blending() {
        glProgramUniform1f(gl_.surface, at(gl_.surface, "opacity"), 1);
        glDisable(GL_BLEND);
    }

    Status read_pixels() {
        const int w = kSuper * width_, h = kSuper * height_;
        glBlitNamedFramebuffer(gl_.target.frame, gl_.target.resolve_frame, 0, 0, w, h, 0, 0, w, h,
                               GL_COLOR_BUFFER_BIT, GL_NEAREST);
        glBindFramebuffer(GL_FRAMEBUFFER, gl_.target.resolve_frame);
        glPixelStorei(GL_PACK_ALIGNMENT, 1);
        glReadPixels(0, 0, w, h, GL_RGBA, GL_UNSIGNED_BYTE, pixels_.data());
        return check_gl("drawing a picture");
    }

    // Means of 2 × 2 pixels, in linear light.
    void copy_tile(int left, int low) {
        const std::size_t row = 4 * static_cast<std::size_t>(kSuper * width_);
        for (int y = std::max(0, -low); y < height_; ++y) {
            const int image_y = box_.y + box_.height - 1 - (low + y);
            for (int x = 0; x < width_ && left + x < box_.width; ++x) {
                const std::uint8_t* p =
                    pixels_.data() + 2 * static_cast<std::size_t>(y) * row + 8 * static_cast<std::size_t>(x);
                const std::size_t to =
                    3 * (static_cast<std::size_t>(image_y) * static_cast<std::size_t>(image_.width) +
                         static_cast<std::size_t>(box_.x + left + x));
                for (std::size_t k = 0; k < 3; ++k) {
                    const unsigned sum = gl_.table.light[p[k]] + gl_.table.light[p[k + 4]] +
                                         gl_.table.light[p[k + row]] + gl_.table.light[p[k + row + 4]];
                    image_.rgb[to + k] = gl_.table.code[(sum + 2) / 4];
                }
            }
        }
    }

    Objects& gl_;
    const Figure& figure_;
    const Box& box_;
    Image& image_;
    Context* const context_;
    const int across_, down_;            // tiles
    const int width_, height_, margin_;  // of a tile, in pixels
    const Linear clear_;
    Texture ramp_;
    std::vector<std::uint8_t> pixels_;  // of a tile
};

Status Painter::draw(const Figure& figure, const Box& box, Rgb background, Image& image, Context* context) {
    return FigurePainter(*objects_, figure, box, background, image, context).run();
}

}  // namespace sinew
