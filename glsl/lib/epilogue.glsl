#ifndef LIB_EPILOGUE
#define LIB_EPILOGUE

// What is done to the elements of a product before they are stored: r = activation(a @ b + bias) + residual, as much of it as
// there is. Between the steps values are rounded to the type of r, so that the bits are those of kernels of their own.
//
// ACTIVATION is an expression in a, and LIBRARY the file that it needs. The steps themselves stand in lib/stack.glsl.
#include LIBRARY

layout(constant_id = 8) const bool BIASED = false;
layout(constant_id = 9) const bool RESIDUAL = false;
layout(constant_id = 10) const bool WIDE = false;  // the bias is added to sums that are not rounded before

layout(buffer_reference, scalar) readonly buffer Addends { R_STORAGE data[]; };

#ifdef ACTIVATION
T vx_activated(T a) {
    precise T result = ACTIVATION;
    return result;
}
#endif

#endif
