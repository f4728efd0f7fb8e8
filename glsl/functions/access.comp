// How kernels that are linked read and write the elements of one dtype, A: functions that `vkarray/kernels/fused.py` takes from
// here. A pack has VECTOR elements, which lie next to each other and are aligned.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#include "lib/packs.glsl"

#define EACH [[unroll]] for (int k = 0; k < VECTOR; ++k)

struct Place { uvec2 a; };
struct APack { JOIN(A_AS, _FIELD)(A) };
layout(buffer_reference, scalar) buffer AElements { A_STORAGE data[]; };
layout(buffer_reference, scalar, buffer_reference_align = A_ALIGN) buffer APacks { APack data[]; };

void load(uvec2 address, uint place, out A_COMPUTE value) { value = A_LOAD(AElements(address).data[place]); }

void store(uvec2 address, uint place, A_COMPUTE value) { AElements(address).data[place] = A_STORE(value); }

void load_pack(uvec2 address, uint pack, out A_COMPUTE values[VECTOR]) {
    Place arguments = Place(address);
    EACH values[k] = JOIN(A_AS, _GET)(A, a, pack);
}

void store_pack(uvec2 address, uint pack, A_COMPUTE values[VECTOR]) {
    JOIN(A_AS, _PUT)(A, APacks(address).data[pack], values)
}

// A number that lies in the arguments in place of an address.
void immediate(uvec2 bits, out A_COMPUTE value) { value = A_IMMEDIATE(bits); }

#ifdef A_BITS
#define A_WORDS(value) uvec2(A_BITS(value), 0u)
#endif
#ifdef A_WORDS
// The bits of a value, for `immediate` of another type.
void bits_of(A_COMPUTE value, out uvec2 bits) { bits = A_WORDS(value); }
#endif

#ifdef A_IN_TEXELS
// A pack as a texel holds it.
void unpack(uvec4 texel, out A_COMPUTE values[VECTOR]) { EACH values[k] = A_UNPACK(texel[k], 0); }
#endif

// What is read of a value that has been stored.
void kept(A_COMPUTE value, out A_COMPUTE result) { result = A_LOAD(A_STORE(value)); }

// The compiler drops functions that nothing calls.
void main() {
    uvec2 address = gl_WorkGroupID.xy;
    A_COMPUTE value, values[VECTOR];
    load(address, 0u, value);
    kept(value, value);
    store(address, 0u, value);
    load_pack(address, 0u, values);
    store_pack(address, 0u, values);
#ifdef A_WORDS
    bits_of(value, address);
#endif
#ifdef A_IN_TEXELS
    unpack(gl_NumWorkGroups.xyzx, values);
    store_pack(address, 0u, values);
#endif
    immediate(address, value);
    store(address, 0u, value);
}
