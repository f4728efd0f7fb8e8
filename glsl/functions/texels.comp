// Functions that read bound arrays as texels of four words, for kernels that are linked (vkarray/kernels/fused.py): CPU drivers load
// these at once, and through an address lane by lane.
#define TEXELS(NUMBER)                                                                           \
    layout(binding = NUMBER) uniform usamplerBuffer texels_##NUMBER;                             \
    uvec4 texel_##NUMBER(uint place) { return texelFetch(texels_##NUMBER, int(place)); }

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
    texel_0(place);
    texel_1(place);
    texel_2(place);
    texel_3(place);
    texel_4(place);
    texel_5(place);
    texel_6(place);
    texel_7(place);
}
