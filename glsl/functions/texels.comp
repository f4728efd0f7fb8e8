// Functions that read bound arrays as texels of four words, for kernels that are linked (vkarray/kernels/fused.py): CPU drivers load
// these at once, and through an address lane by lane. Words may begin in the midst of a texel.
#extension GL_EXT_control_flow_attributes : require

#define WORDS 16

#define TEXELS(NUMBER)                                                                           \
    layout(binding = NUMBER) uniform usamplerBuffer texels_##NUMBER;                             \
    uvec4 texel_##NUMBER(uint place) { return texelFetch(texels_##NUMBER, int(place)); }         \
    void word_##NUMBER(uint place, out uvec2 word) {                                             \
        uvec4 texel = texel_##NUMBER(place >> 2);                                                \
        uvec2 half_ = (place & 2u) != 0u ? texel.zw : texel.xy;                                  \
        word = uvec2((place & 1u) != 0u ? half_.y : half_.x, 0u);                                \
    }                                                                                            \
    void words_##NUMBER(uint place, out uvec2 words[WORDS]) {                                    \
        uint found[WORDS + 4];                                                                   \
        [[unroll]] for (int t = 0; t <= WORDS / 4; ++t) {                                        \
            uvec4 texel = texel_##NUMBER((place >> 2) + uint(t));                                \
            [[unroll]] for (int k = 0; k < 4; ++k) found[4 * t + k] = texel[k];                  \
        }                                                                                        \
        bool two = (place & 2u) != 0u, one = (place & 1u) != 0u;                                 \
        [[unroll]] for (int k = 0; k < WORDS + 2; ++k) found[k] = two ? found[k + 2] : found[k]; \
        [[unroll]] for (int k = 0; k < WORDS; ++k) words[k] = uvec2(one ? found[k + 1] : found[k], 0u); \
    }

TEXELS(0)
TEXELS(1)
TEXELS(2)
TEXELS(3)
TEXELS(4)
TEXELS(5)
TEXELS(6)
TEXELS(7)

// The compiler drops functions that nothing calls.
void main() {
    uint place = gl_WorkGroupID.x;
    uvec2 word, words[WORDS];
#define USE(NUMBER) texel_##NUMBER(place); word_##NUMBER(place, word); words_##NUMBER(place, words);
    USE(0)
    USE(1)
    USE(2)
    USE(3)
    USE(4)
    USE(5)
    USE(6)
    USE(7)
}
