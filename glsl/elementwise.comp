// R = EXPRESSION of the elements a, b, c of up to three inputs (INPUTS of them) and of the place of the element in
// C order, `index`.
//
// Two access patterns. FLAT: every operand is contiguous and aligned, or one element for all (a bit of `broadcast`);
// an invocation handles VECTOR elements, so that the widest operand moves 16 bytes. Otherwise: any strides and any rank;
// an invocation handles one element. Sizes and strides lie in the push constants while they fit, else in a buffer.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/address.glsl"
#include "lib/dtypes.glsl"
#include LIBRARY

layout(local_size_x_id = 0) in;

#define OPERANDS (INPUTS + 1)

#ifdef FLAT

// A pack has the operand AS ELEMENTS, or AS WORDS when these hold several each: PER_WORD.
#define JOIN_(FIRST, SECOND) FIRST##SECOND
#define JOIN(FIRST, SECOND) JOIN_(FIRST, SECOND)
#define ELEMENTS_FIELD(NAME) NAME##_STORAGE element[VECTOR];
#define ELEMENTS_GET(NAME, PACK) NAME##_LOAD(PACK.element[k])
#define ELEMENTS_PUT(NAME, PACK, VALUES) EACH PACK.element[k] = NAME##_STORE(VALUES[k]);
#define WORDS_FIELD(NAME) uint word[VECTOR / NAME##_PER_WORD];
#define WORDS_GET(NAME, PACK) NAME##_UNPACK(PACK.word[k / NAME##_PER_WORD], k % NAME##_PER_WORD)
#define WORDS_PUT(NAME, PACK, VALUES)                                                            \
    [[unroll]] for (int w = 0; w < VECTOR / NAME##_PER_WORD; ++w) {                              \
        uint bits = 0u;                                                                          \
        [[unroll]] for (int k = 0; k < NAME##_PER_WORD; ++k) {                                   \
            bits |= NAME##_BITS(VALUES[w * NAME##_PER_WORD + k]) << (32 / NAME##_PER_WORD * k);  \
        }                                                                                        \
        PACK.word[w] = bits;                                                                     \
    }

#define BUFFER(NAME, ACCESS, ALIGN)                                                              \
    struct NAME##Pack { JOIN(NAME##_AS, _FIELD)(NAME) };                                         \
    layout(buffer_reference, scalar) ACCESS buffer NAME##Elements { NAME##_STORAGE data[]; };    \
    layout(buffer_reference, scalar, buffer_reference_align = ALIGN) ACCESS buffer NAME##Packs { NAME##Pack data[]; };

#else

#define BUFFER(NAME, ACCESS, ALIGN) \
    layout(buffer_reference, scalar) ACCESS buffer NAME##Elements { NAME##_STORAGE data[]; };

#endif

#if INPUTS > 0
BUFFER(A, readonly, A_ALIGN)
#endif
#if INPUTS > 1
BUFFER(B, readonly, B_ALIGN)
#endif
#if INPUTS > 2
BUFFER(C, readonly, C_ALIGN)
#endif
BUFFER(R, writeonly, R_ALIGN)

layout(buffer_reference, scalar) readonly buffer Metadata { int data[]; };

// Addresses are pairs of words: a driver (SwiftShader) may lack the cast from one buffer reference to another.
layout(push_constant, scalar) uniform Push {
#if INPUTS > 0
    uvec2 a;
#endif
#if INPUTS > 1
    uvec2 b;
#endif
#if INPUTS > 2
    uvec2 c;
#endif
    uvec2 r;
    uint count;
#ifdef FLAT
    uint broadcast;
#else
    uint rank;
    int layout_[(128 - 8 * OPERANDS - 8) / 4];
#endif
} push;

R_COMPUTE evaluate(uint index
#if INPUTS > 0
    , A_COMPUTE a
#endif
#if INPUTS > 1
    , B_COMPUTE b
#endif
#if INPUTS > 2
    , C_COMPUTE c
#endif
) {
    precise R_COMPUTE result = EXPRESSION;
    return result;
}

#if INPUTS == 0
#define EVALUATE(INDEX, ELEMENT) evaluate(INDEX)
#elif INPUTS == 1
#define EVALUATE(INDEX, ELEMENT) evaluate(INDEX, ELEMENT(a, A))
#elif INPUTS == 2
#define EVALUATE(INDEX, ELEMENT) evaluate(INDEX, ELEMENT(a, A), ELEMENT(b, B))
#else
#define EVALUATE(INDEX, ELEMENT) evaluate(INDEX, ELEMENT(a, A), ELEMENT(b, B), ELEMENT(c, C))
#endif

#ifdef FLAT

#define READ(NAME, VARIABLE, BIT)                                                                \
    NAME##_COMPUTE VARIABLE[VECTOR];                                                             \
    if ((push.broadcast & (1u << BIT)) != 0u) {                                                  \
        NAME##_COMPUTE value = NAME##_LOAD(NAME##Elements(push.VARIABLE).data[0]);                               \
        EACH VARIABLE[k] = value;                                                                \
    } else if (whole) {                                                                          \
        EACH VARIABLE[k] = JOIN(NAME##_AS, _GET)(NAME, NAME##Packs(push.VARIABLE).data[invocation]); \
    } else {                                                                                     \
        EACH VARIABLE[k] = NAME##_LOAD(NAME##Elements(push.VARIABLE).data[min(first + uint(k), push.count - 1u)]); \
    }

#define EACH [[unroll]] for (int k = 0; k < VECTOR; ++k)
#define ELEMENT(VARIABLE, NAME) VARIABLE[k]

void main() {
    uint invocation = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint first = invocation * uint(VECTOR);
    if (first >= push.count) return;
    bool whole = first + uint(VECTOR) <= push.count;
#if INPUTS > 0
    READ(A, a, 0)
#endif
#if INPUTS > 1
    READ(B, b, 1)
#endif
#if INPUTS > 2
    READ(C, c, 2)
#endif
    R_COMPUTE result[VECTOR];
    EACH result[k] = EVALUATE(first + uint(k), ELEMENT);
    if (whole) {
        JOIN(R_AS, _PUT)(R, RPacks(push.r).data[invocation], result)
    } else {
        EACH if (first + uint(k) < push.count) RElements(push.r).data[first + uint(k)] = R_STORE(result[k]);
    }
}

#else

// The layout is: sizes of all dimensions, then the strides of each operand (inputs, then the result).
#define CAPACITY (((128 - 8 * OPERANDS - 8) / 4) / (OPERANDS + 1))

int layout_at(uint row, uint axis) {
    uint place = row * push.rank + axis;
    if (push.rank <= uint(CAPACITY)) return push.layout_[place];
    return Metadata(uvec2(push.layout_[0], push.layout_[1])).data[place];
}

#define AT(VARIABLE, NAME) NAME##Elements(vx_address(push.VARIABLE, VARIABLE##_offset, NAME##_BYTES)).data[0]
#define ELEMENT(VARIABLE, NAME) NAME##_LOAD(AT(VARIABLE, NAME))

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= push.count) return;
    uint rest = index;
    int a_offset = 0, b_offset = 0, c_offset = 0, r_offset = 0;
    for (int axis = int(push.rank) - 1; axis >= 0; --axis) {
        int position = int(rest);
        if (axis > 0) {
            uint size = uint(layout_at(0u, uint(axis)));
            uint quotient = rest / size;
            position = int(rest - quotient * size);
            rest = quotient;
        }
#if INPUTS > 0
        a_offset += position * layout_at(1u, uint(axis));
#endif
#if INPUTS > 1
        b_offset += position * layout_at(2u, uint(axis));
#endif
#if INPUTS > 2
        c_offset += position * layout_at(3u, uint(axis));
#endif
        r_offset += position * layout_at(uint(OPERANDS), uint(axis));
    }
    AT(r, R) = R_STORE(EVALUATE(index, ELEMENT));
}

#endif
