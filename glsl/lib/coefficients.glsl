#ifndef LIB_COEFFICIENTS
#define LIB_COEFFICIENTS

// Four numbers that belong together as one element of an operand, as dtypes.glsl has it of other types.
#define STORAGE_coefficients_float32 vec4
#define STORAGE_coefficients_float64 dvec4
#define COMPUTE_coefficients_float32 vec4
#define COMPUTE_coefficients_float64 dvec4
#define LOAD_coefficients_float32(x) (x)
#define LOAD_coefficients_float64(x) (x)
#define STORE_coefficients_float32(v) (v)
#define STORE_coefficients_float64(v) (v)
#define IMMEDIATE_coefficients_float32(bits) vec4(0.0)  // never in the arguments
#define IMMEDIATE_coefficients_float64(bits) dvec4(0.0)

#endif
