// What a build without OpenGL answers (SINEW_GL).

namespace sinew {}
