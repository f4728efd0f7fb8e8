// Orthogonal polynomials of the order n (its integer part; 0 for negative ones, as in PyTorch), by their recurrences.
#ifndef LIB_POLYNOMIALS
#define LIB_POLYNOMIALS

#include "lib/special.glsl"
#ifdef DOUBLE
#include "lib/float64/inverse_trigonometric.glsl"
#include "lib/float64/inverse_hyperbolic.glsl"
#define VX_LARGEST_HERMITE 512
#else
#include "lib/float32/inverse_trigonometric.glsl"
#include "lib/float32/inverse_hyperbolic.glsl"
#define VX_LARGEST_HERMITE 128
#endif

// Orders above are NaN where only the recurrence gives them: llvmpipe ends loops after 65,535 turns, and others would hang.
#define VX_LARGEST_ORDER 32768

// The order, or -1 for negative ones, infinities and NaN.
int vx_order(T n) {
    if (!(n > T(-1)) || n == VX_INFINITY) return -1;
    return int(min(vx_trunc(n), T(VX_LARGEST_ORDER + 1)));
}

bool vx_is_even(T n) { return vx_is_integral(vx_trunc(n) * T(0.5)); }

#define VX_FIRST 0   // T, U, V and W of Chebyshev
#define VX_SECOND 1
#define VX_THIRD 2
#define VX_FOURTH 3

// T_n = cos(n a), U_n = sin((n + 1) a) / sin a, V_n = cos((n + 1/2) a) / cos(a / 2), W_n = sin((n + 1/2) a) / sin(a / 2) for
// x = cos a; beyond 1 with hyperbolic functions.
T vx_chebyshev_by_angle(T x, T n, int kind) {
    T size = vx_absolute(x);
    bool inside = size < T(1);
    bool turned = !inside && x < T(0);
    if (turned && kind >= VX_THIRD) kind = VX_THIRD + VX_FOURTH - kind;
    T angle = inside ? vx_acos(x) : vx_acosh(size);
    precise T half_angle = T(0.5) * angle;
    precise T many = (kind == VX_FIRST ? n : kind == VX_SECOND ? n + T(1) : n + T(0.5)) * angle;
    T one = kind == VX_SECOND ? angle : half_angle;
    bool of_sines = kind == VX_SECOND || kind == VX_FOURTH;
    T above = of_sines ? (inside ? vx_sin(many) : vx_sinh(many)) : (inside ? vx_cos(many) : vx_cosh(many));
    T below = of_sines ? (inside ? vx_sin(one) : vx_sinh(one)) : (inside ? vx_cos(one) : vx_cosh(one));
    T result = kind == VX_FIRST ? above : vx_divide(above, below);
    return turned && !vx_is_even(n) ? -result : result;
}

T vx_chebyshev(T x, T n, int kind) {
    int order = vx_order(n);
    if (order < 0) return T(0);
    n = vx_trunc(n);
    if (vx_absolute(x) == T(1)) {
        T size = kind == VX_FIRST || kind == (x > T(0) ? VX_THIRD : VX_FOURTH) ? T(1)
            : kind == VX_SECOND ? n + T(1) : n + n + T(1);
        return x > T(0) || vx_is_even(n) ? size : -size;
    }
    if (order > (vx_absolute(x) < T(1) ? 8 : 64)) return x != x ? x : vx_chebyshev_by_angle(x, n, kind);
    precise T twice = x + x, last = T(1);
    precise T result = kind == VX_FIRST ? x : kind == VX_SECOND ? twice : kind == VX_THIRD ? twice - T(1) : twice + T(1);
    for (int k = 1; k < order; ++k) {
        precise T next = twice * result - last;
        last = result;
        result = next;
    }
    return order == 0 ? T(1) : result;
}

T vx_shifted_chebyshev(T x, T n, int kind) {
    precise T y = x + x - T(1);
    return vx_chebyshev(y, n, kind);
}

// `factor` is 2 for the physicists' polynomials, 1 for those of probability theory.
T vx_hermite(T x, T n, T factor) {
    int order = vx_order(n);
    if (order < 0) return T(0);
    if (order > VX_LARGEST_HERMITE) return VX_NAN;
    precise T last = T(1), result = factor * x;
    for (int k = 1; k < order; ++k) {
        precise T next = factor * x * result - factor * T(k) * last;
        last = result;
        result = next;
    }
    return order == 0 ? T(1) : result;
}

T vx_laguerre(T x, T n) {
    int order = vx_order(n);
    if (order < 0) return T(0);
    if (x == T(0)) return T(1);
    if (order > VX_LARGEST_ORDER) return VX_NAN;
    precise T last = T(1), result = T(1) - x;
    for (int k = 1; k < order; ++k) {
        precise T next = (T(k + k + 1) * result - x * result - T(k) * last) / T(k + 1);
        last = result;
        result = next;
    }
    return order == 0 ? T(1) : result;
}

T vx_legendre(T x, T n) {
    int order = vx_order(n);
    if (order < 0) return T(0);
    if (vx_absolute(x) == T(1)) return x > T(0) || vx_is_even(n) ? T(1) : T(-1);
    if (order > VX_LARGEST_ORDER) return VX_NAN;
    precise T last = T(1), result = x;
    for (int k = 1; k < order; ++k) {
        precise T next = (T(k + k + 1) * x * result - T(k) * last) / T(k + 1);
        last = result;
        result = next;
    }
    return order == 0 ? T(1) : result;
}

#endif
