#ifndef LIB_EPILOGUE
#define LIB_EPILOGUE

// What is done to the elements of a product before they are stored: r = a @ b + bias + residual, as much of it as there is. Between
// the steps values are rounded to the type of r, so that the bits are those of kernels of their own.
//
// LINKED: in place of these sums any expression of an element, rounded, of the bias and of the residual is linked
// (vkarray/kernels/product/linked.py). The steps themselves stand in lib/stack.glsl.
layout(constant_id = 8) const bool BIASED = false;
layout(constant_id = 9) const bool RESIDUAL = false;
layout(constant_id = 10) const bool WIDE = false;  // the bias is added to sums that are not rounded before
layout(constant_id = 13) const bool LINKED = false;

#define INPUTS 8  // of an expression, at most

layout(buffer_reference, scalar) readonly buffer Addends { R_STORAGE data[]; };

#endif
