// What the shaders of the symmetric tridiagonal eigenproblem share. T is a real type.
#ifndef LIB_TRIDIAGONAL
#define LIB_TRIDIAGONAL
#include "lib/householder.glsl"

layout(buffer_reference, scalar) buffer Reals { REAL data[]; };
layout(buffer_reference, scalar) buffer Integers { int data[]; };

#ifdef DOUBLE
#define EPSILON 2.220446049250313e-16lf
#define HALF_ROOT 0.7071067811865476lf
#else
#define EPSILON 1.1920929e-7
#define HALF_ROOT 0.70710678
#endif

// sqrt(a^2 + b^2) without overflow and underflow on the way.
REAL vx_length(REAL a, REAL b) {
    REAL larger = max(abs(a), abs(b));
    REAL smaller = min(abs(a), abs(b));
    if (larger == REAL(0)) return larger;
    precise REAL ratio = smaller / larger;
    precise REAL length_ = larger * sqrt(REAL(1) + ratio * ratio);
    return length_;
}

// The largest sum of magnitudes of a row: no eigenvalue is larger.
REAL vx_tridiagonal_norm(Reals diagonal, Reals off_diagonal, uint n) {
    REAL norm = REAL(0);
    EACH(i, 0u, n, 1u) {
        precise REAL sum = abs(diagonal.data[i]) + (abs(off_diagonal.data[i]) + (i > 0u ? abs(off_diagonal.data[i - 1u]) : REAL(0)));
        norm = max(norm, sum);
    }
    return norm;
}

#endif
