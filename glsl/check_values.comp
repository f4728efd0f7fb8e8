// Notes a value outside of [low, high], or within, for the host to raise an error when it next reads a value.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include "lib/status.glsl"
#include LIBRARY

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool WITHIN = false;   // wrong are the values within

layout(buffer_reference, scalar) readonly buffer Elements { A_STORAGE data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Elements a;
    Status status;
    T low;
    T high;
    uint count;
    int code;
    uvec2 extent;  // for the text of the error
} arguments;

#if defined(DOUBLE)
ivec2 words_of(T value) { return ivec2(floatBitsToInt(float(value)), 0); }
#elif !defined(BITS)
ivec2 words_of(T value) { return ivec2(floatBitsToInt(value), 0); }
#elif BITS == 64
ivec2 words_of(T value) { return ivec2(int(value & T(0xFFFFFFFFu)), int(value >> 32)); }
#else
ivec2 words_of(T value) { return ivec2(int(value), SIGNED == 1 ? int(value) >> 31 : 0); }
#endif

void main() {
    uint element = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (element >= arguments.count) return;
    T value = A_LOAD(arguments.a.data[element]);
    bool inside = value >= arguments.low && value <= arguments.high && !(IS_NAN);
    if (inside == WITHIN) vx_note(arguments.status, arguments.code, 0, words_of(value), ivec2(arguments.extent));
}
