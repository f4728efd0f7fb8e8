// What the kernels of eig share: the state of a matrix on its way, and arithmetic for a real or complex type T; C is complex.
#ifndef LIB_EIG
#define LIB_EIG
#extension GL_EXT_control_flow_attributes : require
#include "lib/householder.glsl"

// Words of a matrix's state.
#define STATUS 0u
#define HIGH 1u         // rows from here on are triangular
#define LOW 2u          // where the block that is worked on begins
#define POSITION 3u     // the row where a bulge was left; 0 between sweeps
#define ITERATIONS 4u   // sweeps since a block last became smaller
#define TOTAL 5u        // sweeps in all
#define BEGIN 6u        // the window whose transformation is to be applied to the rest of the matrix, if not empty
#define END 7u
#define DIFFERS 8u      // from its own adjoint: the matrix is not Hermitian
#define LARGEST 9u      // EXPONENT_BIAS + the power of two that the matrix has been divided by
#define ARRANGED 10u    // the order of rows is found
#define STATE_WORDS 11u
#define EXPONENT_BIAS 4096

#define RUNNING 0
#define CONVERGED 1
#define STUCK 2
#define NOT_FINITE 3

layout(buffer_reference, scalar) buffer Elements { T data[]; };
layout(buffer_reference, scalar) buffer Reals { REAL data[]; };
layout(buffer_reference, scalar) buffer State { int data[]; };

// Matrices are scaled to a largest part in [1, 2); SMALLEST is nothing beside that, and its square root over EPSILON finite.
#ifdef DOUBLE
#define C dvec2
#define EPSILON 2.220446049250313e-16lf
#define SMALLEST 1.026342132232033e-289lf
#define SMALL_SQUARE_RATIO 1e-100lf
#else
#define C vec2
#define EPSILON 1.1920929e-7
#define SMALLEST 8.077935669463161e-28
#define SMALL_SQUARE_RATIO 1e-20
#endif

#ifndef COMPLEX
C vx_times(C a, C b) {
    precise C product = C(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
    return product;
}
REAL vx_squared(C z) {
    precise REAL square = z.x * z.x + z.y * z.y;
    return square;
}
REAL vx_larger_part(C z) { return max(abs(z.x), abs(z.y)); }
C vx_conjugated(C z) { return C(z.x, -z.y); }
C vx_scaled(C z, REAL factor) {
    precise C product = z * factor;
    return product;
}
C vx_shifted(C z, int n) {
    int first = n >> 1;
    return vx_scaled(vx_scaled(z, vx_two_to_the(first)), vx_two_to_the(n - first));
}
C vx_complex(REAL x) { return C(x, REAL(0)); }
REAL vx_size(T z) { return abs(z); }
#else
REAL vx_size(T z) {
    precise REAL sum = abs(z.x) + abs(z.y);
    return sum;
}
#endif
C vx_complex(C z) { return z; }

T vx_sum(T a, T b) {
    precise T sum = a + b;
    return sum;
}
T vx_difference(T a, T b) {
    precise T difference = a - b;
    return difference;
}
#ifndef COMPLEX
C vx_sum(C a, C b) {
    precise C sum = a + b;
    return sum;
}
C vx_difference(C a, C b) {
    precise C difference = a - b;
    return difference;
}
#endif

// a / b for b != 0, which is brought to moderate size first; nothing overflows that should not.
C vx_quotient(C a, C b) {
    int exponent = vx_exponent_of(vx_larger_part(b));
    C divisor = vx_shifted(b, -exponent);
    precise C quotient = vx_times(a, vx_conjugated(divisor)) / vx_squared(divisor);
    return vx_shifted(quotient, -exponent);
}
#ifndef COMPLEX
T vx_quotient(T a, T b) {
    precise T quotient = a / b;
    return quotient;
}
#endif

// A reflector I - tau v v^H with v = (1, ...) and a real tau takes x to (beta, 0): from x[0] and the sum of the squares of the
// others, neither large nor both small. v = factor * x but for its first element. It is its own inverse.
void vx_hermitian_reflector(T alpha, REAL rest, out T beta, out REAL tau, out T factor) {
    REAL square = vx_squared(alpha);
    precise REAL norm = sqrt(square + rest);
    // A small alpha has no accurate modulus, nor has it any effect.
    bool some = square > SMALL_SQUARE_RATIO;
    precise REAL modulus = some ? sqrt(square) : REAL(0);
    precise T phase = some ? alpha / modulus : FROM_REAL(REAL(1));
    precise REAL sum = modulus + norm;
    tau = sum / norm;
    beta = vx_scaled(phase, -norm);
    precise T ratio = vx_conjugate(phase) / sum;
    factor = ratio;
}

#endif
