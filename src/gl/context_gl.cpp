#include "core/try.h"
#include "gl/context.h"

#include <epoxy/egl.h>

#include <algorithm>

namespace sinew::gl {

struct GlContext::Egl {
    EGLDisplay display = EGL_NO_DISPLAY;
    EGLContext context = EGL_NO_CONTEXT;
};

namespace {

constexpr const char* kRemedy =
    " (on Debian: apt-get install libegl1 libgl1-mesa-dri; this needs neither a display nor a graphics card)";

Error no_context(const std::string& what) { return {ErrorCode::io, "OpenGL: " + what + kRemedy}; }

// The display without a window system; the default display if a driver has none.
EGLDisplay open_display() {
    const char* known = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
    const std::string_view extensions = known ? known : "";
    if (extensions.find("EGL_EXT_platform_base") != std::string_view::npos &&
        extensions.find("EGL_MESA_platform_surfaceless") != std::string_view::npos) {
        const EGLDisplay display =
            eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
        if (display != EGL_NO_DISPLAY && eglInitialize(display, nullptr, nullptr)) return display;
    }
    const EGLDisplay display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
    if (display != EGL_NO_DISPLAY && eglInitialize(display, nullptr, nullptr)) return display;
    return EGL_NO_DISPLAY;
}

}  // namespace

Result<std::unique_ptr<GlContext>> GlContext::create() {
    std::unique_ptr<GlContext> made(new GlContext);
    made->egl_ = std::make_unique<Egl>();
    Egl& egl = *made->egl_;
    if (!epoxy_has_egl()) return no_context("there is no EGL library");
    egl.display = open_display();
    if (egl.display == EGL_NO_DISPLAY) return no_context("EGL found no driver");
    if (!eglBindAPI(EGL_OPENGL_API)) return no_context("EGL has no desktop OpenGL");
    const EGLint config_wish[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    EGLConfig config = nullptr;
    EGLint count = 0;
    eglChooseConfig(egl.display, config_wish, &config, 1, &count);
    const EGLint context_wish[] = {
        EGL_CONTEXT_MAJOR_VERSION,           4,       EGL_CONTEXT_MINOR_VERSION, 5, EGL_CONTEXT_OPENGL_PROFILE_MASK,
        EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
    egl.context = eglCreateContext(egl.display, count ? config : EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, context_wish);
    if (egl.context == EGL_NO_CONTEXT) return no_context("the driver has no OpenGL 4.5");
    if (!eglMakeCurrent(egl.display, EGL_NO_SURFACE, EGL_NO_SURFACE, egl.context))
        return no_context("the driver cannot draw without a surface");
    if (const auto* name = reinterpret_cast<const char*>(glGetString(GL_RENDERER))) made->renderer_ = name;
    GLint size = 0, viewport[2] = {0, 0};
    glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &size);
    glGetIntegerv(GL_MAX_VIEWPORT_DIMS, viewport);
    made->max_size_ = std::min(size, std::min(viewport[0], viewport[1]));
    return made;
}

bool GlContext::software() const {
    for (const char* name : {"llvmpipe", "softpipe", "swrast", "SwiftShader", "Software"})
        if (renderer_.find(name) != std::string::npos) return true;
    return false;
}

Status GlContext::use() {
    if (eglMakeCurrent(egl_->display, EGL_NO_SURFACE, EGL_NO_SURFACE, egl_->context)) return Done{};
    return no_context("the driver does not take up its context again");
}

// All contexts of the process share the display, so it is never closed.
GlContext::~GlContext() {
    if (!egl_ || egl_->context == EGL_NO_CONTEXT) return;
    eglMakeCurrent(egl_->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(egl_->display, egl_->context);
}

Buffer make_buffer(const void* data, std::size_t bytes) {
    GLuint name = 0;
    glCreateBuffers(1, &name);
    // OpenGL does not accept empty buffers.
    glNamedBufferStorage(name, bytes ? static_cast<GLsizeiptr>(bytes) : 1, bytes ? data : nullptr, 0);
    return Buffer(name);
}

Buffer make_storage(std::size_t bytes) {
    GLuint name = 0;
    glCreateBuffers(1, &name);
    glNamedBufferStorage(name, bytes ? static_cast<GLsizeiptr>(bytes) : 1, nullptr, GL_DYNAMIC_STORAGE_BIT);
    return Buffer(name);
}

VertexArray make_array() {
    GLuint name = 0;
    glCreateVertexArrays(1, &name);
    return VertexArray(name);
}

namespace {

Texture make_texture(GLenum target, GLint filter) {
    GLuint name = 0;
    glCreateTextures(target, 1, &name);
    glTextureParameteri(name, GL_TEXTURE_MIN_FILTER, filter);
    glTextureParameteri(name, GL_TEXTURE_MAG_FILTER, filter);
    glTextureParameteri(name, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTextureParameteri(name, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    return Texture(name);
}

}  // namespace

Texture make_texture_1d(GLenum format, int width, GLint filter) {
    Texture made = make_texture(GL_TEXTURE_1D, filter);
    glTextureStorage1D(made, 1, format, width);
    return made;
}

Texture make_texture_2d(GLenum format, int width, int height, GLint filter) {
    Texture made = make_texture(GL_TEXTURE_2D, filter);
    glTextureStorage2D(made, 1, format, width, height);
    return made;
}

Renderbuffer make_renderbuffer() {
    GLuint name = 0;
    glCreateRenderbuffers(1, &name);
    return Renderbuffer(name);
}

Framebuffer make_framebuffer() {
    GLuint name = 0;
    glCreateFramebuffers(1, &name);
    return Framebuffer(name);
}

bool complete(std::initializer_list<GLuint> framebuffers) {
    return std::all_of(framebuffers.begin(), framebuffers.end(), [](GLuint name) {
        return glCheckNamedFramebufferStatus(name, GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    });
}

namespace {

Status compile(GLuint program, GLenum kind, std::string_view name, std::string_view source) {
    const GLuint shader = glCreateShader(kind);
    const GLchar* text = source.data();
    const auto length = static_cast<GLint>(source.size());
    glShaderSource(shader, 1, &text, &length);
    glCompileShader(shader);
    GLint ok = GL_FALSE;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
    std::string log(1024, '\0');
    GLsizei used = 0;
    if (!ok) glGetShaderInfoLog(shader, static_cast<GLsizei>(log.size()), &used, log.data());
    if (ok) glAttachShader(program, shader);
    glDeleteShader(shader);  // the program keeps it
    if (ok) return Done{};
    log.resize(static_cast<std::size_t>(used));
    return Error{ErrorCode::internal, "OpenGL: shader '" + std::string(name) + "' does not compile: " + log};
}

Result<Program> link(Program program, std::string_view name) {
    glLinkProgram(program);
    GLint ok = GL_FALSE;
    glGetProgramiv(program, GL_LINK_STATUS, &ok);
    if (ok) return program;
    std::string log(1024, '\0');
    GLsizei used = 0;
    glGetProgramInfoLog(program, static_cast<GLsizei>(log.size()), &used, log.data());
    log.resize(static_cast<std::size_t>(used));
    return Error{ErrorCode::internal, "OpenGL: shader '" + std::string(name) + "' does not link: " + log};
}

}  // namespace

Result<Program> make_program(std::string_view name, std::string_view vertex, std::string_view fragment) {
    Program program(glCreateProgram());
    SINEW_TRY(compile(program, GL_VERTEX_SHADER, name, vertex));
    SINEW_TRY(compile(program, GL_FRAGMENT_SHADER, name, fragment));
    return link(std::move(program), name);
}

Result<Program> make_program(std::string_view name, std::string_view compute) {
    Program program(glCreateProgram());
    SINEW_TRY(compile(program, GL_COMPUTE_SHADER, name, compute));
    return link(std::move(program), name);
}

Status check_gl(std::string_view where) {
    GLenum worst = GL_NO_ERROR;
    for (GLenum error = glGetError(); error != GL_NO_ERROR; error = glGetError())
        if (worst != GL_OUT_OF_MEMORY) worst = error;
    if (worst == GL_NO_ERROR) return Done{};
    if (worst == GL_OUT_OF_MEMORY)
        return Error{ErrorCode::too_large, "OpenGL: out of memory while " + std::string(where)};
    return Error{ErrorCode::internal, "OpenGL: error " + std::to_string(worst) + " while " + std::string(where)};
}

}  // namespace sinew::gl
