#ifndef LIB_MATMUL_ARGUMENTS
#define LIB_MATMUL_ARGUMENTS

#include "lib/epilogue.glsl"

// The arguments of the matrix products: a is m x k, b is k x n, r is m x n with elements side by side in a row.
layout(set = 1, binding = 0, scalar) uniform Arguments {
    AElements a;
    BElements b;
    RElements r;
    Addends bias, residual; // null where there is none
    uvec2 inputs[INPUTS];   // numbers of an expression that is linked, in their places
    uint count;         // products in the stack
    uint m, n;
    uint k, part;       // length of the summed dimension, and of the parts it is cut into
    int a_m, a_k, b_k, b_n, r_m;
    uint rank;
    int layout_[388];   // see lib/stack.glsl
} arguments;

#endif
