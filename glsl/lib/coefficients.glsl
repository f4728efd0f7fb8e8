#ifndef LIB_COEFFICIENTS
#define LIB_COEFFICIENTS
#include "lib/rows.glsl"

// Four numbers that belong together as one element of an operand.
#ifdef DOUBLE
#define STORAGE_coefficients dvec4
#define COMPUTE_coefficients dvec4
#else
#define STORAGE_coefficients vec4
#define COMPUTE_coefficients vec4
#endif
#define LOAD_coefficients(x) (x)
#define STORE_coefficients(v) (v)
#define IMMEDIATE_coefficients(bits) COMPUTE_coefficients(0.0)  // never in the arguments

#endif
