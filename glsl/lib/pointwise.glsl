// Elementwise functions of networks and their gradients, written once for all types that they compute in: T is float,
// double or an integer type.
#ifndef LIB_POINTWISE
#define LIB_POINTWISE

#if defined(BITS)

#include "lib/integer/arithmetic.glsl"

// The remainder of truncated division, with the sign of the dividend; 0 for a divisor of 0.
T vx_fmod(T a, T b) {
    if (b == T(0)) return T(0);
    VX_UNSIGNED rest = vx_magnitude(a) % vx_magnitude(b);
    return T(vx_is_negative_integer(a) ? VX_UNSIGNED(0) - rest : rest);
}

// The greatest common divisor, by Euclid, and the least common multiple; 0 for two zeros.
T vx_gcd(T a, T b) {
    VX_UNSIGNED x = vx_magnitude(a);
    VX_UNSIGNED y = vx_magnitude(b);
    while (y != VX_UNSIGNED(0)) {
        VX_UNSIGNED rest = x % y;
        x = y;
        y = rest;
    }
    return T(x);
}

T vx_lcm(T a, T b) {
    VX_UNSIGNED divisor = VX_UNSIGNED(vx_gcd(a, b));
    return divisor == VX_UNSIGNED(0) ? T(0) : T(vx_magnitude(a) / divisor * vx_magnitude(b));
}

// The quotient rounded towards zero; 0 for a divisor of 0.
T vx_truncated_divide(T a, T b) {
    if (b == T(0)) return T(0);
    VX_UNSIGNED quotient = vx_magnitude(a) / vx_magnitude(b);
    return T(vx_is_negative_integer(a) != vx_is_negative_integer(b) ? VX_UNSIGNED(0) - quotient : quotient);
}

#else

#ifdef DOUBLE
#include "lib/float64/arithmetic.glsl"
#include "lib/float64/exponential.glsl"
#include "lib/float64/hyperbolic.glsl"
#include "lib/float64/logarithmic.glsl"
#include "lib/float64/power.glsl"
#include "lib/float64/rounding.glsl"
const double VX_ROOT_HALF = 0.70710678118654752440lf;
const double VX_NORMAL_PEAK = 0.39894228040143267794lf;
const double VX_WINITZKI_SUM = 4.3307467508lf;
const double VX_WINITZKI_FACTOR = 6.8027lf;
const double VX_ROOT_PI_HALF = 0.88622692545275801365lf;
const double VX_ERF_SLOPE = 1.1283791670955125739lf;
const double VX_ROOT_2_BY_PI = 0.79788456080286535588lf;
const double VX_GELU_CUBE = 0.044715lf;
const double VX_GELU_SQUARE = 0.134145lf;
const double VX_LOG2_E = 1.4426950408889634074lf;
#define VX_NAN VX_NAN_DOUBLE
#define VX_INFINITY packDouble2x32(uvec2(0u, 0x7FF00000u))
#define PAIR dvec2
#else
#include "lib/float32/arithmetic.glsl"
#include "lib/float32/exponential.glsl"
#include "lib/float32/hyperbolic.glsl"
#include "lib/float32/logarithmic.glsl"
#include "lib/float32/power.glsl"
#include "lib/float32/rounding.glsl"
const float VX_ROOT_HALF = 0.70710678118654752440;
const float VX_NORMAL_PEAK = 0.39894228040143267794;
const float VX_WINITZKI_SUM = 4.3307467508;
const float VX_WINITZKI_FACTOR = 6.8027;
const float VX_ROOT_PI_HALF = 0.88622692545275801365;
const float VX_ERF_SLOPE = 1.1283791670955125739;
const float VX_ROOT_2_BY_PI = 0.79788456080286535588;
const float VX_GELU_CUBE = 0.044715;
const float VX_GELU_SQUARE = 0.134145;
const float VX_LOG2_E = 1.4426950408889634074;
#define VX_NAN VX_FLOAT32_NAN
#define VX_INFINITY uintBitsToFloat(0x7F800000u)
#define PAIR vec2
#endif
#include "lib/error_function.glsl"

T vx_fmod(T a, T b) {
    return vx_copysign(vx_remainder(vx_absolute(a), vx_absolute(b)), a);
}

T vx_truncated_divide(T a, T b) {
    return vx_trunc(vx_divide(a, b));
}

T vx_sigmoid(T x) {
    precise T e = vx_exp(-vx_absolute(x));
    return vx_divide(x < T(0) ? e : T(1), T(1) + e);
}

// max(x, 0), NaN for NaN.
T vx_relu(T x) {
    return x <= T(0) ? T(0) : x;
}

bool vx_is_infinity(T x, bool negative) {
    return x == (negative ? -VX_INFINITY : VX_INFINITY);
}

T vx_gelu(T x) {
    precise T result = x * vx_normal_distribution(x);
    return result;
}

#ifndef DOUBLE
// For results of 16 bits: exp(x^2 / 2) times half of erfc(x / sqrt(2)) within 3.6e-5 of itself, by a polynomial in 1 / (1 + 0.38 x)
// fitted with Lawson's weights for x from 0 to 14. The sign is looked at as a bit, for x may be subnormal.
float vx_gelu_short(float x) {
    float size = vx_absolute(x);
    precise float t = 1.0 / (1.0 + 0.38 * size);
    precise float tail = t * (0.15122513 + t * (0.15783009 + t * (0.09197648 + t * (0.18888195 - t * 0.08993123))));
    precise float missing = size * tail * vx_exp(-0.5 * size * size);
    precise float result = vx_signbit(x) ? -missing : x - missing;
    return x > 20.0 ? x : result;
}
#endif

T vx_gelu_backward(T grad, T x) {
    precise T result = grad * (vx_normal_distribution(x) + x * vx_normal_density(x));
    return result;
}

// sqrt(2 / pi) (x + 0.044715 x^3), and its derivative. Half of 1 + tanh of it is the sigmoid of its double.
PAIR vx_gelu_argument(T x) {
    precise T value = VX_ROOT_2_BY_PI * (x + VX_GELU_CUBE * x * x * x);
    precise T slope = VX_ROOT_2_BY_PI * (T(1) + VX_GELU_SQUARE * x * x);
    return PAIR(value, slope);
}

T vx_gelu_tanh(T x) {
    precise T result = x * vx_sigmoid(T(2) * vx_gelu_argument(x).x);
    return result;
}

T vx_gelu_tanh_backward(T grad, T x) {
    PAIR argument = vx_gelu_argument(x);
    T share = vx_sigmoid(T(2) * argument.x);
    precise T result = grad * (share + T(2) * x * share * (T(1) - share) * argument.y);
    return result;
}

T vx_silu(T x) {
    precise T e = vx_exp(-vx_absolute(x));
    precise T result = (x < T(0) ? x * e : x) / (T(1) + e);
    return result;
}

T vx_silu_backward(T grad, T x) {
    T s = vx_sigmoid(x);
    precise T result = grad * s * (T(1) + x * (T(1) - s));
    return result;
}

T vx_softplus(T x) {
    precise T result = max(x, T(0)) + vx_log1p(vx_exp(-vx_absolute(x)));
    return x != x ? x : result;
}

T vx_xlogy(T x, T y, T logarithm) {
    precise T result = x * logarithm;
    return y != y ? y : x == T(0) ? T(0) : result;
}

// log2(2^a + 2^b).
T vx_logaddexp2(T a, T b) {
    if (a == b && vx_absolute(a) == VX_INFINITY) return a;
    precise T result = max(a, b) + vx_log1p(vx_exp2(-vx_absolute(a - b))) * VX_LOG2_E;
    return a != a || b != b ? a + b : result;
}

#endif

#endif
