// For each 64 elements of a mask: their truth as 64 bits and how many are true. A count of 0 follows the last.
//
// SCANNED: one workgroup takes all, and writes prefix sums of the counts in place of them.
#include "lib/extensions.glsl"

layout(local_size_x_id = 0) in;

#ifdef WIDE8
#define MASK_STORAGE uint
#define WORD_ELEMENTS 1
#else
#define MASK_STORAGE uint8_t
#define WORD_ELEMENTS 4
#endif

layout(buffer_reference, scalar, buffer_reference_align = 1) readonly buffer Mask { MASK_STORAGE data[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer Words { uvec4 data[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) writeonly buffer Bits { uvec2 data[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer Counts { uint data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 mask;  // aligned to 16 bytes; two words, for SwiftShader lacks the cast of a buffer reference to another
    Bits bits;
    Counts counts;
    uint count;
} arguments;

// The truth of the elements in one word, first element lowest.
uint vx_word_bits(uint word) {
#ifdef WIDE8
    return word != 0u ? 1u : 0u;
#else
    uint nonzero = ((word & 0x7F7F7F7Fu) + 0x7F7F7F7Fu | word) & 0x80808080u;
    // The product moves the top bits of the four bytes side by side without a carry.
    return (nonzero >> 7) * 0x10204080u >> 28;
#endif
}

// The truth of the elements of a chunk, some of which may lie beyond the mask.
uvec2 vx_chunk_bits(uint chunk) {
    uint first = chunk * 64u;
    uvec2 bits = uvec2(0u);
    if (first >= arguments.count) return bits;
    if (arguments.count - first >= 64u) {
        for (int part = 0; part < 64 / (4 * WORD_ELEMENTS); ++part) {
            uvec4 four = Words(arguments.mask).data[chunk * uint(64 / (4 * WORD_ELEMENTS)) + uint(part)];
            uint found = vx_word_bits(four.x) | vx_word_bits(four.y) << WORD_ELEMENTS
                | vx_word_bits(four.z) << 2 * WORD_ELEMENTS | vx_word_bits(four.w) << 3 * WORD_ELEMENTS;
            int place = part * 4 * WORD_ELEMENTS;
            if (place < 32) bits.x |= found << place;
            else bits.y |= found << (place - 32);
        }
    } else {
        for (uint place = 0u; place < arguments.count - first; ++place) {
            if (uint(Mask(arguments.mask).data[first + place]) != 0u) {
                if (place < 32u) bits.x |= 1u << place;
                else bits.y |= 1u << (place - 32u);
            }
        }
    }
    return bits;
}

uint vx_count(uvec2 bits) { return uint(bitCount(bits.x) + bitCount(bits.y)); }

#ifdef SCANNED

#define INVOCATIONS 256u

shared uint sums[INVOCATIONS];

void main() {
    uint chunk = gl_LocalInvocationIndex, chunks = (arguments.count + 63u) / 64u;
    uvec2 bits = vx_chunk_bits(chunk);
    uint own = vx_count(bits), sum = own;
    for (uint step_ = 1u; step_ < INVOCATIONS; step_ *= 2u) {
        sums[chunk] = sum;
        barrier();
        if (chunk >= step_) sum += sums[chunk - step_];
        barrier();
    }
    if (chunk < chunks) arguments.bits.data[chunk] = bits;
    if (chunk <= chunks) arguments.counts.data[chunk] = sum - own;
}

#else

void main() {
    uint chunk = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint first = chunk * 64u;
    if (first >= arguments.count) {
        if (first < arguments.count + 64u) arguments.counts.data[chunk] = 0u;
        return;
    }
    uvec2 bits = vx_chunk_bits(chunk);
    arguments.bits.data[chunk] = bits;
    arguments.counts.data[chunk] = vx_count(bits);
}

#endif
