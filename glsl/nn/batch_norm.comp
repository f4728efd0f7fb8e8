// r = (x - mean) / sqrt(variance + epsilon) * weight + bias, with numbers of each channel, for x of (batch, channels, plane) in
// C order: batch norm with statistics that are known, or without NORMALIZED a bias alone. An invocation takes PACKS packs of
// VECTOR neighbours, a workgroup apart.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#ifdef HARDWARE_HALF
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif
#include "lib/dtypes.glsl"
#include "lib/rows.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool NORMALIZED = true;
layout(constant_id = 2) const bool WEIGHT = true;
layout(constant_id = 3) const bool BIAS = true;
layout(constant_id = 4) const bool PACKED = false;  // x and r begin at multiples of a pack
layout(constant_id = 5) const bool WITHIN = false;  // planes are whole packs, so that a pack has one channel

#define EACH [[unroll]] for (uint k = 0u; k < uint(VECTOR); ++k)

layout(buffer_reference, scalar) buffer Elements { A_STORAGE data[]; };
layout(buffer_reference, scalar) readonly buffer Numbers { B_STORAGE data[]; };

// A pack of a 16-bit type is moved as words.
#ifdef PER_WORD
struct Pack { uint word[VECTOR / PER_WORD]; };
#define VALUE_OF(PACK, K) A_UNPACK(PACK.word[(K) / uint(PER_WORD)], int((K) % uint(PER_WORD)))
#else
struct Pack { A_STORAGE element[VECTOR]; };
#define VALUE_OF(PACK, K) A_LOAD(PACK.element[K])
#endif
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Packs { Pack data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 x;
    uvec2 r;
    uvec2 mean;
    uvec2 variance;
    uvec2 weight;
    uvec2 bias;
    uvec2 epsilon;
    uint count;
    uint channels;
    uint plane;
} arguments;

#ifdef DOUBLE
#define EPSILON packDouble2x32(arguments.epsilon)
#else
#define EPSILON uintBitsToFloat(arguments.epsilon.x)
#endif

T mean = T(0), scale = T(1), shift;  // of the channel at hand

void take(uint channel) {
    if (NORMALIZED) {
        mean = B_LOAD(Numbers(arguments.mean).data[channel]);
        precise T root = vx_reciprocal_root(B_LOAD(Numbers(arguments.variance).data[channel]) + EPSILON);
        scale = root;
        if (WEIGHT) {
            precise T product = root * B_LOAD(Numbers(arguments.weight).data[channel]);
            scale = product;
        }
    }
    shift = BIAS ? B_LOAD(Numbers(arguments.bias).data[channel]) : T(0);
}

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    for (uint p = 0u; p < uint(PACKS); ++p) {
        uint pack = (group * uint(PACKS) + p) * gl_WorkGroupSize.x + gl_LocalInvocationIndex, first = pack * uint(VECTOR);
        if (first >= arguments.count) return;
        bool whole = PACKED && (WITHIN || first + uint(VECTOR) <= arguments.count);
        T values[VECTOR];
        if (whole) {
            Pack own = Packs(arguments.x).data[pack];
            EACH values[k] = VALUE_OF(own, k);
        } else {
            EACH values[k] = A_LOAD(Elements(arguments.x).data[min(first + k, arguments.count - 1u)]);
        }
        uint plane = first / arguments.plane, channel = plane % arguments.channels, end = (plane + 1u) * arguments.plane;
        take(channel);
        EACH {
            if (!WITHIN && first + k == end) {
                channel = channel + 1u == arguments.channels ? 0u : channel + 1u;
                end += arguments.plane;
                take(channel);
            }
            precise T result = NORMALIZED ? (values[k] - mean) * scale + shift : values[k] + shift;
            values[k] = result;
        }
        if (whole) {
            Pack made;
#ifdef PER_WORD
            [[unroll]] for (uint w = 0u; w < uint(VECTOR / PER_WORD); ++w) {
                made.word[w] = A_BITS(values[2u * w]) | A_BITS(values[2u * w + 1u]) << 16;
            }
#else
            EACH made.element[k] = A_STORE(values[k]);
#endif
            Packs(arguments.r).data[pack] = made;
        } else {
            EACH if (first + k < arguments.count) Elements(arguments.r).data[first + k] = A_STORE(values[k]);
        }
    }
}
