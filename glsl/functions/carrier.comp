// How VALUE, what kernels compute with for elements of one dtype, lies in its CARRIER: an unsigned integer of the size of an element
// in memory. Functions that `vkarray/shaders/assembly.py` takes from here.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"

#define UNPACK_int64(w, k) int64_t(w)
#define UNPACK_float64(w, k) packDouble2x32(unpackUint2x32(w))
#define UNPACK_complex64(w, k) uintBitsToFloat(unpackUint2x32(w))
#define BITS_int64(v) uint64_t(v)
#define BITS_float64(v) packUint2x32(unpackDouble2x32(v))
#define BITS_complex64(v) packUint2x32(floatBitsToUint(v))

void value_of(CARRIER bits, out VALUE value) { value = VALUE_OF(bits); }

void bits_of(VALUE value, out CARRIER bits) { bits = BITS_OF(value); }

// The compiler drops functions that nothing calls.
void main() {
    CARRIER bits;
    VALUE value;
    value_of(bits, value);
    bits_of(value, bits);
}
