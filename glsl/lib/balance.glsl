// Powers of two that bring a matrix to a size at which sums of squares neither overflow nor lose what matters to underflow.
#ifndef LIB_BALANCE
#define LIB_BALANCE
#include "lib/householder.glsl"
#undef EACH  // the template of elementwise operations has another

#ifdef DOUBLE
#define BALANCED_EXPONENT 480
#else
#define BALANCED_EXPONENT 46
#endif

// The larger magnitude of a number's parts, infinity for NaN.
REAL vx_reach(T z) {
    REAL larger = vx_larger_part(z);
#ifdef COMPLEX
    bool finite = vx_exponent_of(z.x) < MAXIMUM_EXPONENT && vx_exponent_of(z.y) < MAXIMUM_EXPONENT;
#else
    bool finite = vx_exponent_of(z) < MAXIMUM_EXPONENT;
#endif
#ifdef DOUBLE
    return finite ? larger : packDouble2x32(uvec2(0u, 0x7FF00000u));
#else
    return finite ? larger : uintBitsToFloat(0x7F800000u);
#endif
}

int vx_imbalance(REAL reach) { return BALANCED_EXPONENT - vx_exponent_of(reach); }

// z times the power of two that makes `reach` balanced, and back.
T vx_balanced(T z, REAL reach) { return vx_shifted(z, vx_imbalance(reach)); }
T vx_unbalanced(T z, REAL reach) { return vx_shifted(z, -vx_imbalance(reach)); }

#endif
