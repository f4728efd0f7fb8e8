// Random integers low + [0, range), every one as likely as the others: D. Lemire, "Fast random integer generation in an
// interval", ACM Transactions on Modeling and Computer Simulation 29, 2019. The upper half of the product of a random word
// and `range` is the result, unless its lower half is below `threshold`, 2^n mod range; then the word of the same place in
// a block of the next attempt is tried. One invocation for a block; a word has 32 bits, with WIDE 64. With BETWEEN each result
// has bounds of its own.
#include "lib/extensions.glsl"
#include "lib/element.glsl"
#include "lib/philox.glsl"

layout(local_size_x_id = 0) in;

#ifdef WIDE
#define WORD uvec2
#define WORDS_OF_BLOCK 2u
#define WORD_AT(block, k) ((k) == 0u ? (block).xy : (block).zw)

// The lower and the upper half of the product.
void multiply(uvec2 a, uvec2 b, out uvec2 lower, out uvec2 upper) {
    uvec4 high, low;
    umulExtended(a.xxyy, b.xyxy, high, low);
    uint carry, other;
    uint second = uaddCarry(high.x, low.y, carry);
    second = uaddCarry(second, low.z, other);
    uint into_third = carry + other;
    uint third = uaddCarry(high.y, high.z, carry);
    third = uaddCarry(third, low.w, other);
    uint into_fourth = carry + other;
    third = uaddCarry(third, into_third, carry);
    lower = uvec2(low.x, second);
    upper = uvec2(third, high.w + into_fourth + carry);
}

bool is_below(uvec2 a, uvec2 b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }

#else
#define WORD uint
#define WORDS_OF_BLOCK 4u
#define WORD_AT(block, k) (block)[k]

void multiply(uint a, uint b, out uint lower, out uint upper) { umulExtended(a, b, upper, lower); }

bool is_below(uint a, uint b) { return a < b; }
#endif

#ifdef BETWEEN
layout(buffer_reference, scalar) readonly buffer Bounds { WORD data[]; };
#endif

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Elements results;
    uvec2 key;
    uvec2 block;      // the first one
#ifdef BETWEEN
    Bounds low;
    Bounds range;
    uint low_step;    // from one result to the next: 0 for a single number
    uint range_step;
#else
    uvec2 low;
    uvec2 range;      // 0 for all 2^n
    uvec2 threshold;
#endif
    uint skip;        // words of the first block that come before the first result
    uint count;
} arguments;

// 2^n mod range.
WORD threshold_of(WORD range) {
#ifdef WIDE
    uint64_t divisor = packUint2x32(range);
    return unpackUint2x32((uint64_t(0) - divisor) % divisor);
#else
    return (0u - range) % range;
#endif
}

// The element with a 64-bit value; a shorter one takes its low bits.
ELEMENT element_of(uvec2 value) {
#if ELEMENT_BYTES == 8
    return value;
#else
    return value.x;
#endif
}

void main() {
    uint invocation = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint first = invocation * WORDS_OF_BLOCK;
    if (first >= arguments.skip + arguments.count) return;
    uvec4 block = vx_block(arguments.block, invocation, 0u, arguments.key);
    for (uint k = 0u; k < WORDS_OF_BLOCK; ++k) {
        uint place = first + k - arguments.skip;
        if (place >= arguments.count) continue;
#ifdef BETWEEN
        WORD low = arguments.low.data[place * arguments.low_step];
        WORD range = arguments.range.data[place * arguments.range_step];
        bool all = range == WORD(0u);
        WORD threshold = all ? WORD(0u) : threshold_of(range);
#elif defined(WIDE)
        uvec2 low = arguments.low, range = arguments.range, threshold = arguments.threshold;
        bool all = range == uvec2(0u);
#else
        uvec2 low = arguments.low;
        uint range = arguments.range.x, threshold = arguments.threshold.x;
        bool all = range == 0u;
#endif
        WORD result = WORD_AT(block, k);
        if (!all) {
            WORD lower, word = result;
            multiply(word, range, lower, result);
            for (uint attempt = 1u; is_below(lower, threshold); ++attempt) {
                uvec4 another = vx_block(arguments.block, invocation, attempt, arguments.key);
                word = WORD_AT(another, k);
                multiply(word, range, lower, result);
            }
        }
        uint carry;
#ifdef WIDE
        uvec2 value = uvec2(uaddCarry(low.x, result.x, carry), low.y + result.y);
#elif defined(BETWEEN)
        uvec2 value = uvec2(uaddCarry(low, result, carry), 0u);
#else
        uvec2 value = uvec2(uaddCarry(low.x, result, carry), low.y);
#endif
        value.y += carry;
        arguments.results.data[place] = ELEMENT_STORAGE(element_of(value));
    }
}
