// Notes a value outside of [low, high], or within, for the host to raise an error when it next reads a value.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include "lib/status.glsl"
#include LIBRARY

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool WITHIN = false;   // wrong are the values within

layout(buffer_reference, scalar) readonly buffer Elements { A_STORAGE data[]; };

layout(push_constant, scalar) uniform Push {
    Elements a;
    Status status;
    T low;
    T high;
    uint count;
    int code;
    ivec2 extent;  // for the text of the error
} push;

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
    if (element >= push.count) return;
    T value = A_LOAD(push.a.data[element]);
    bool inside = value >= push.low && value <= push.high && !(IS_NAN);
    if (inside == WITHIN) vx_note(push.status, push.code, 0, words_of(value), push.extent);
}
