#ifndef LIB_MATMUL_ARGUMENTS
#define LIB_MATMUL_ARGUMENTS

// The arguments of the matrix products: a is m x k, b is k x n, r is m x n with elements side by side in a row. A template
// that adds a row to all rows of r defines HAS_BIAS.
layout(set = 1, binding = 0, scalar) uniform Arguments {
    AElements a;
    BElements b;
    RElements r;
#ifdef HAS_BIAS
    AElements bias;     // null where there is none
#endif
    uint count;         // products in the stack
    uint m, n;
    uint k, part;       // length of the summed dimension, and of the parts it is cut into
    int a_m, a_k, b_k, b_n, r_m;
    uint rank;
    int layout_[256];   // see lib/stack.glsl
} arguments;

#endif
