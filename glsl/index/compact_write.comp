// Writes one value for each true element of a mask, side by side in the mask's order: with ELEMENT_BYTES the element of
// another array at the same place, else the coordinates of the element, one array for each dimension.
//
// SHARED: a workgroup first gathers the places of its true elements, so that neighbours write neighbouring values.
#include "lib/extensions.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Bits { uvec2 data[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Prefix { uint data[]; };

#ifdef ELEMENT_BYTES
#include "lib/element.glsl"
#else

#ifdef INDEX64
#define INDEX int64_t
#else
#define INDEX int
#endif

// For each dimension: its size, the coordinate of the first element (the mask may be a part of a larger one) and the
// address of the result, two words each.
#define TABLE_WORDS 384
layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer Coordinates { INDEX data[]; };

#endif

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Bits bits;
    Prefix prefix;
#ifdef ELEMENT_BYTES
    Elements source;
    Elements result;
    uint count;
#else
    uint count;
    uint rank;
    int table[TABLE_WORDS];
#endif
} arguments;

#ifdef ELEMENT_BYTES

void vx_write(uint element, uint place) { arguments.result.data[place] = ELEMENT_STORAGE(ELEMENT(arguments.source.data[element])); }

#else

// The rank of a common case, which has a pipeline of its own; 0: any rank.
layout(constant_id = 1) const uint RANK = 0u;

uint vx_rank() { return RANK != 0u ? RANK : arguments.rank; }

uint vx_word(uint place) { return uint(arguments.table[place]); }

INDEX vx_wide_word(uint place) {
#ifdef INDEX64
    return INDEX(packUint2x32(uvec2(vx_word(place), vx_word(place + 1u))));
#else
    return int(vx_word(place));
#endif
}

void vx_write(uint element, uint place) {
    uint rest = element;
    bool carry = false;
    for (int axis = int(vx_rank()) - 1; axis >= 0; --axis) {
        uint entry = 6u * uint(axis);
        // A dimension of 2^32 or more is larger than what is left to divide.
        uint size = vx_word(entry + 1u) != 0u ? 0xFFFFFFFFu : vx_word(entry);
        uint quotient = axis > 0 ? rest / size : 0u;
        INDEX coordinate = INDEX(rest - quotient * size) + vx_wide_word(entry + 2u) + INDEX(carry ? 1 : 0);
        INDEX full = vx_wide_word(entry);
        carry = axis > 0 && coordinate >= full;
        if (carry) coordinate -= full;
        Coordinates(uvec2(vx_word(entry + 4u), vx_word(entry + 5u))).data[place] = coordinate;
        rest = quotient;
    }
}

#endif

#ifdef SHARED

#define INVOCATIONS 256u
#define PER_INVOCATION 8
#define CHUNKS (INVOCATIONS * uint(PER_INVOCATION) / 64u)

shared uint chosen[INVOCATIONS * PER_INVOCATION];  // elements, counted from the first of the workgroup

void main() {
    uint chunks = (arguments.count + 63u) / 64u;
    uint first = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * CHUNKS;
    if (first >= chunks) return;
    uint element = gl_LocalInvocationIndex * uint(PER_INVOCATION);
    uint chunk = first + element / 64u;
    uint start = arguments.prefix.data[first];
    if (chunk < chunks) {
        uvec2 bits = arguments.bits.data[chunk];
        bool high = (element & 32u) != 0u;
        uint own = high ? bits.y : bits.x;
        uint shift = element & 31u;
        uint place = arguments.prefix.data[chunk] - start + uint(bitCount(own & ((1u << shift) - 1u))) + (high ? uint(bitCount(bits.x)) : 0u);
        for (int k = 0; k < PER_INVOCATION; ++k) {
            if ((own >> (shift + uint(k)) & 1u) != 0u) chosen[place++] = element + uint(k);
        }
    }
    barrier();
    uint count = arguments.prefix.data[min(first + CHUNKS, chunks)] - start;
    for (uint place = gl_LocalInvocationIndex; place < count; place += INVOCATIONS) {
        vx_write(first * 64u + chosen[place], start + place);
    }
}

#else

void main() {
    uint element = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (element >= arguments.count) return;
    uvec2 bits = arguments.bits.data[element / 64u];
    uint bit = element & 31u;
    bool high = (element & 32u) != 0u;
    uint own = high ? bits.y : bits.x;
    if ((own >> bit & 1u) == 0u) return;
    uint place = arguments.prefix.data[element / 64u] + uint(bitCount(own & ((1u << bit) - 1u))) + (high ? uint(bitCount(bits.x)) : 0u);
    vx_write(element, place);
}

#endif
