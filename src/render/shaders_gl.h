// The programs of draw_gl.cpp. Positions are pixels of the panel; `window` is the part of it that a tile shows.
#pragma once

namespace sinew::shaders {

inline constexpr const char* kSurfaceVertex = R"(#version 450 core
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 colour;
layout(location = 3) in float value;
uniform vec4 window;  // x, y, 2 / width, 2 / height
uniform vec2 range;   // nearest z, 2 / (nearest - farthest)
invariant gl_Position;
out vec3 n;
out vec4 paint;
out float v;
out vec2 on_face;
vec3 linear(vec3 c) { return mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), greaterThan(c, vec3(0.04045))); }
void main() {
    gl_Position = vec4((position.xy - window.xy) * window.zw - 1, (range.x - position.z) * range.y - 1, 1);
    n = normal;
    paint = vec4(linear(colour.rgb), colour.a);
    v = value;
    on_face = vec2(0);
}
)";

// Six corners for each face of a voxel.
inline constexpr const char* kVoxelVertex = R"(#version 450 core
layout(location = 0) in uvec4 face;  // x, y, z, direction | kind << 8
uniform vec4 window;
uniform vec2 range;
uniform mat4x3 to_pixel;
uniform vec3 directions[6];
uniform vec3 kinds[5];  // linear colours
out vec3 n;
out vec4 paint;
out float v;
out vec2 on_face;
void main() {
    uint direction = face.w & 255u;
    int axis = int(direction >> 1);
    vec2 corner = vec2[](vec2(0, 0), vec2(1, 0), vec2(0, 1), vec2(0, 1), vec2(1, 0), vec2(1, 1))[gl_VertexID];
    vec3 p = vec3(face.xyz);
    p[axis] += float(direction & 1u);
    p[(axis + 1) % 3] += corner.x;
    p[(axis + 2) % 3] += corner.y;
    vec3 position = to_pixel * vec4(p, 1);
    gl_Position = vec4((position.xy - window.xy) * window.zw - 1, (range.x - position.z) * range.y - 1, 1);
    n = directions[direction];
    paint = vec4(kinds[face.w >> 8], 1);
    v = 0;
    on_face = corner;
}
)";

// Shared by surfaces, voxels, bones and lines. mode: 0 plain, 1 colour, 2 value, 3 voxel, 4 bone, 5 line.
inline constexpr const char* kSurfaceFragment = R"(#version 450 core
in vec3 n;
in vec4 paint;
in float v;
in vec2 on_face;
uniform int mode;
uniform sampler2D occlusion;  // of the tile with its margin
uniform vec3 occlusion_at;    // margin in its pixels, 1 / its width, 1 / its height
uniform float supersampling;
uniform sampler1D ramp;
uniform vec3 scale;  // low, 1 / (high - low), 1 where low is plain
uniform int lines;
uniform float isoline[64];
uniform float opacity;
out vec4 result;

const vec3 plain = vec3(0.595, 0.57, 0.535);
const vec3 nothing = vec3(0.305, 0.305, 0.323);
const vec3 key = vec3(-0.548, 0.618, 0.564);

vec3 by_value() {
    float t = (v - scale.x) * scale.y;
    vec3 c = texture(ramp, (clamp(t, 0, 1) * 255 + 0.5) / 256).rgb;
    float step = fwidth(v);
    if (scale.z > 0) {
        // An edge of one pixel where something begins.
        float w = max(fwidth(t), 1e-6);
        c = mix(plain, c, clamp((t - 0.002) / w + 0.5, 0, 1));
    }
    // No line where values are constant.
    if (step * scale.y > 1e-7) {
        vec3 ink = dot(c, vec3(0.21, 0.72, 0.07)) < 0.22 ? vec3(0.95) : vec3(0.02);
        float line = 0;
        for (int i = 0; i < lines; ++i) line = max(line, 1 - smoothstep(0.4, 1.4, abs(v - isoline[i]) / step / supersampling));
        // Lines within a few pixels of each other would merge.
        c = mix(c, ink, 0.8 * line * (1 - smoothstep(0.1, 0.35, step * scale.y * supersampling)));
    }
    return c;
}

void main() {
    vec3 base = plain;
    if (mode == 2) base = paint.a < 0.5 ? nothing : by_value();
    else if (mode != 0) base = paint.rgb;
    vec3 normal = normalize(gl_FrontFacing || mode == 3 ? n : -n);
    float hemisphere = 0.5 + 0.5 * normal.y;
    float lit = max(0, (dot(normal, key) + 0.15) / 1.15);
    float open = mode == 4 ? 1 : texture(occlusion, (gl_FragCoord.xy / supersampling + occlusion_at.x) * occlusion_at.yz).r;
    float light = (0.31 + 0.25 * hemisphere) * open + 0.62 * lit * mix(1, open, 0.6);
    light *= mix(0.72, 1.0, smoothstep(0.0, 0.45, normal.z));
    vec3 c = base * light;
    if (mode == 3) {
        // A thin line around each voxel, if voxels are large enough to be distinguished.
        vec2 w = fwidth(on_face);
        vec2 d = min(on_face, 1 - on_face) / max(w, vec2(1e-6)) / supersampling;
        float size = 1 / max(max(w.x, w.y), 1e-6) / supersampling;
        c *= 1 - 0.45 * smoothstep(3, 9, size) * (1 - smoothstep(0.2, 1.0, min(d.x, d.y)));
    }
    result = vec4(mode == 5 ? base : c, opacity);
}
)";

inline constexpr const char* kFullVertex = R"(#version 450 core
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4 - 1, 0, 1); }
)";

// Ambient occlusion of a pixel: samples on a spiral, rotated by one of 16 angles per pixel.
inline constexpr const char* kOcclusionFragment = R"(#version 450 core
uniform sampler2D depth;
uniform float deep;  // farthest minus nearest, pixels
uniform float radius;  // pixels
uniform ivec2 origin;  // of the tile in the panel, so that the pattern continues in the next tile
out float result;
const int taps = 24;
float z_at(ivec2 p) { return -texelFetch(depth, clamp(p, ivec2(0), textureSize(depth, 0) - 1), 0).r * deep; }
void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    float own = texelFetch(depth, p, 0).r;
    result = 1;
    if (own >= 1) return;
    float z = -own * deep;
    // The flatter of the two slopes: the other may cross an edge.
    float l = z - z_at(p - ivec2(1, 0)), r = z_at(p + ivec2(1, 0)) - z;
    float d = z - z_at(p - ivec2(0, 1)), u = z_at(p + ivec2(0, 1)) - z;
    vec3 n = normalize(vec3(-(abs(l) < abs(r) ? l : r), -(abs(d) < abs(u) ? d : u), 1));
    ivec2 cell = (p + origin) & 3;
    float turn = float((cell.x * 4 + cell.y * 7 + (cell.x ^ cell.y) * 2) & 15) * 0.3927;
    float hidden = 0;
    for (int i = 0; i < taps; ++i) {
        float share = (float(i) + 0.5) / float(taps);
        float angle = float(i) * 2.399963 + turn;
        ivec2 q = p + ivec2(round(vec2(cos(angle), sin(angle)) * radius * share));
        if (q == p) continue;
        float step = z_at(q) - z;
        // A wall is equally dark at its foot for any height; objects that float far in front cast no shadow.
        vec3 way = vec3(q - p, min(step, 0.8 * radius));
        float far = length(way);
        hidden += max(0, dot(n, way) / far - 0.12) * clamp(1.6 - 1.3 * far / radius, 0, 1) *
                  clamp(1.6 - 0.6 * step / radius, 0, 1);
    }
    result = clamp(1 - 1.9 * hidden / float(taps), 0, 1);
}
)";

// The mean over the 16 angles, for pixels at about the same depth.
inline constexpr const char* kBlurFragment = R"(#version 450 core
uniform sampler2D depth;
uniform sampler2D occlusion;
uniform float deep;
uniform float radius;
out float result;
void main() {
    ivec2 p = ivec2(gl_FragCoord.xy), last = textureSize(depth, 0) - 1;
    float own = texelFetch(depth, p, 0).r * deep;
    float sum = 0, count = 0;
    for (int y = -2; y < 2; ++y)
        for (int x = -2; x < 2; ++x) {
            ivec2 q = clamp(p + ivec2(x, y), ivec2(0), last);
            if (abs(texelFetch(depth, q, 0).r * deep - own) > radius * 0.25 + 2) continue;
            sum += texelFetch(occlusion, q, 0).r;
            count += 1;
        }
    result = count > 0 ? sum / count : 1;
}
)";

inline constexpr const char* kDepthFragment = R"(#version 450 core
void main() {}
)";

}  // namespace sinew::shaders
