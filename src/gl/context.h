// OpenGL without a window: a context through EGL, and the objects for drawing into memory. Only files of src/gl and
// files whose names end in _gl include this (SINEW_GL).
#pragma once

#include <epoxy/gl.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sinew/core.h"

namespace sinew::gl {

/// An OpenGL 4.5 core context without a surface, current on its thread for its lifetime. Each thread may have one.
/// Mesa's software rasteriser is sufficient; creating a context takes about 30 ms.
class GlContext {
public:
    /// An error of code io names the missing part and how to install it.
    static Result<std::unique_ptr<GlContext>> create();
    ~GlContext();
    GlContext(const GlContext&) = delete;
    GlContext& operator=(const GlContext&) = delete;

    /// "llvmpipe (LLVM 15.0.6, 256 bits)"
    const std::string& renderer() const { return renderer_; }
    /// Whether it computes on the processor, as Mesa's llvmpipe does.
    bool software() const;
    /// Makes it current again on the thread that made it, where another context has been since.
    Status use();
    /// Maximum width and height of a picture, in pixels.
    int max_size() const { return max_size_; }

private:
    struct Egl;
    GlContext() = default;
    std::unique_ptr<Egl> egl_;
    std::string renderer_;
    int max_size_ = 0;
};

/// The name of an object of OpenGL, deleted with its owner. Must not outlive the context.
template <void (*Delete)(GLuint)>
class Handle {
public:
    Handle() = default;
    explicit Handle(GLuint name) : name_(name) {}
    Handle(Handle&& other) noexcept : name_(std::exchange(other.name_, 0)) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(name_, other.name_);
        return *this;
    }
    ~Handle() {
        if (name_) Delete(name_);
    }
    operator GLuint() const { return name_; }

private:
    GLuint name_ = 0;
};

inline void delete_buffer(GLuint name) { glDeleteBuffers(1, &name); }
inline void delete_array(GLuint name) { glDeleteVertexArrays(1, &name); }
inline void delete_texture(GLuint name) { glDeleteTextures(1, &name); }
inline void delete_renderbuffer(GLuint name) { glDeleteRenderbuffers(1, &name); }
inline void delete_framebuffer(GLuint name) { glDeleteFramebuffers(1, &name); }
inline void delete_program(GLuint name) { glDeleteProgram(name); }
using Buffer = Handle<delete_buffer>;
using VertexArray = Handle<delete_array>;
using Texture = Handle<delete_texture>;
using Renderbuffer = Handle<delete_renderbuffer>;
using Framebuffer = Handle<delete_framebuffer>;
using Program = Handle<delete_program>;

/// A buffer with a copy of `bytes` bytes; it does not change afterwards.
Buffer make_buffer(const void* data, std::size_t bytes);
/// A buffer of `bytes` bytes that are not set, for shaders to write and for glNamedBufferSubData.
Buffer make_storage(std::size_t bytes);
VertexArray make_array();
/// Without levels, clamped at its sides. Integers need GL_NEAREST: with a filter such a texture reads as zero.
Texture make_texture_1d(GLenum format, int width, GLint filter);
Texture make_texture_2d(GLenum format, int width, int height, GLint filter = GL_NEAREST);
Renderbuffer make_renderbuffer();
Framebuffer make_framebuffer();
/// Whether the driver can draw into all of them.
bool complete(std::initializer_list<GLuint> framebuffers);

/// Compiles and links. `name` is for messages. An error is a bug of sinew and contains the log of the driver.
Result<Program> make_program(std::string_view name, std::string_view vertex, std::string_view fragment);
/// The same for a compute shader.
Result<Program> make_program(std::string_view name, std::string_view compute);

/// The first OpenGL error since the last call, with `where` in its message; out of memory is too_large.
Status check_gl(std::string_view where);

}  // namespace sinew::gl
