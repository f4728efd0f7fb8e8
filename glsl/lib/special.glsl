// Special functions, written once for float and double: the gamma function and its relatives, modified Bessel functions, the
// normal distribution's, orthogonal polynomials.
#ifndef LIB_SPECIAL
#define LIB_SPECIAL

#include "lib/pointwise.glsl"

#ifdef DOUBLE
#include "lib/float64/trigonometric.glsl"
const int VX_GAMMA_TERMS = 30;
const double VX_ASYMPTOTIC = 14.0lf;       // from here on Stirling's series is exact enough
const double VX_BESSEL_ASYMPTOTIC = 20.0lf;
const double VX_SMALL = 1.1e-16lf;
#else
#include "lib/float32/trigonometric.glsl"
const int VX_GAMMA_TERMS = 14;
const float VX_ASYMPTOTIC = 8.0;
const float VX_BESSEL_ASYMPTOTIC = 10.0;
const float VX_SMALL = 6.0e-8;
#endif

const T VX_PI = T(3.14159265358979323846lf);
const T VX_HALF_LOG_2_PI = T(0.91893853320467274178lf);

// (-1)^k (zeta(k) - 1) / k from k = 2 on; the compiler rounds constants to float.
const T VX_GAMMA_SERIES[30] = T[](
    T(0.3224670334241132182362lf), T(-0.06735230105319809513325lf), T(0.020580808427784547879lf), T(-0.007385551028673985266273lf),
    T(0.002890510330741523285753lf), T(-0.001192753911703260977114lf), T(0.0005096695247430424223357lf),
    T(-0.0002231547584535793797614lf), T(0.0000994575127818085337146lf), T(-0.00004492623673813314170021lf),
    T(0.00002050721277567069155317lf), T(-0.000009439488275268395903987lf), T(0.000004374866789907487804182lf),
    T(-0.000002039215753801366236782lf), T(9.551412130407419832857e-7lf), T(-4.492469198764566043294e-7lf),
    T(2.120718480555466586923e-7lf), T(-1.004322482396809960872e-7lf), T(4.76981016936398056576e-8lf), T(-2.271109460894316491032e-8lf),
    T(1.083865921489695409107e-8lf), T(-5.183475041970046655121e-9lf), T(2.483674543802478317185e-9lf),
    T(-1.192140140586091207443e-9lf), T(5.73136724167886201333e-10lf), T(-2.759522885124233145178e-10lf),
    T(1.33047643742444894815e-10lf), T(-6.422964563838100022082e-11lf), T(3.104424774732227276239e-11lf),
    T(-1.502138408075414217093e-11lf));

// Bernoulli's numbers B_2, B_4, ...
const T VX_BERNOULLI[8] = T[](
    T(0.16666666666666666667lf), T(-0.033333333333333333333lf), T(0.023809523809523809524lf), T(-0.033333333333333333333lf),
    T(0.075757575757575757576lf), T(-0.25311355311355311355lf), T(1.1666666666666666667lf), T(-7.0921568627450980392lf));

bool vx_is_integral(T x) { return x == vx_floor(x); }

// |sin(pi x)|, exact near its zeros.
T vx_sin_pi(T x) {
    return vx_absolute(vx_sin(VX_PI * (x - vx_floor(x + T(0.5)))));
}

// log gamma(2 + z), |z| <= 1/2: exact near its zero.
T vx_lgamma_near_2(T z) {
    precise T sum = VX_GAMMA_SERIES[VX_GAMMA_TERMS - 1];
    for (int k = VX_GAMMA_TERMS - 2; k >= 0; --k) sum = sum * z + VX_GAMMA_SERIES[k];
    precise T result = z * (T(0.4227843350984671393935lf) + z * sum);
    return result;
}

T vx_lgamma_positive(T x) {
    if (x >= VX_ASYMPTOTIC) {
        if (x == VX_INFINITY) return x;
        precise T inverse = T(1) / x, square = inverse * inverse, sum = T(0);
        for (int k = 7; k >= 0; --k) sum = sum * square + VX_BERNOULLI[k] / T((2 * k + 1) * (2 * k + 2));
        precise T logarithm = vx_log(x);
        precise T result = (x - T(0.5)) * (logarithm - T(1)) + (VX_HALF_LOG_2_PI - T(0.5) + sum * inverse);
        return result;
    }
    if (x < T(0.5)) {
        precise T result = vx_lgamma_near_2(x) - vx_log1p(x) - vx_log(x);
        return result;
    }
    if (x < T(1.5)) {
        precise T z = x - T(1);
        precise T result = vx_lgamma_near_2(z) - vx_log1p(z);
        return result;
    }
    T product = T(1);
    while (x > T(2.5)) {
        x -= T(1);
        product *= x;
    }
    precise T result = vx_lgamma_near_2(x - T(2)) + (product == T(1) ? T(0) : vx_log(product));
    return result;
}

// log |gamma(x)|.
T vx_lgamma(T x) {
    if (x > T(0)) return vx_lgamma_positive(x);
    if (x != x) return x;
    if (vx_is_integral(x)) return VX_INFINITY;  // poles, and -infinity
    if (x > T(-0.5)) {
        precise T near = vx_lgamma_near_2(x) - vx_log1p(x) - vx_log(-x);
        return near;
    }
    precise T result = vx_log(VX_PI / (-x * vx_sin_pi(x))) - vx_lgamma_positive(-x);
    return result;
}

T vx_digamma(T x) {
    if (x == T(0)) return -vx_copysign(VX_INFINITY, x);
    if (x == VX_INFINITY) return x;
    precise T result = T(0);
    if (x < T(0)) {
        if (vx_is_integral(x)) return VX_NAN;
        // -pi / tan(pi x), of a rest within half a period
        precise T rest = x - vx_floor(x + T(0.5));
        result = -VX_PI / vx_tan(VX_PI * rest);
        x = T(1) - x;
    }
    while (x < VX_ASYMPTOTIC) {
        result -= T(1) / x;
        x += T(1);
    }
    precise T inverse = T(1) / x, square = inverse * inverse, sum = T(0);
    for (int k = 7; k >= 0; --k) sum = sum * square + VX_BERNOULLI[k] / T(2 * k + 2);
    result = result + (vx_log(x) - T(0.5) * inverse - sum * square);
    return result;
}

// (2k)! / B_2k
const T VX_ZETA[12] = T[](
    T(12.0lf), T(-720.0lf), T(30240.0lf), T(-1209600.0lf), T(47900160.0lf), T(-1.8924375803183791606e9lf), T(7.47242496e10lf),
    T(-2.950130727918164224e12lf), T(1.1646782814350067249e14lf), T(-4.5979787224074726105e15lf), T(1.8152105401943546773e17lf),
    T(-7.1661652561756670113e18lf));

// Hurwitz's zeta function, by Euler and Maclaurin.
T vx_zeta(T s, T q) {
    if (s != s || q != q) return s + q;
    if (s == T(1)) return VX_INFINITY;
    if (s < T(1)) return VX_NAN;
    if (q <= T(0)) {
        if (vx_is_integral(q)) return VX_INFINITY;
        if (!vx_is_integral(s)) return VX_NAN;
    }
    precise T sum = vx_pow(q, -s), power = sum;
    T a = q;
    for (int i = 0; i < 60000 && (i < 9 || a <= T(9)); ++i) {
        a += T(1);
        power = vx_pow(a, -s);
        sum += power;
        if (vx_absolute(power) < VX_SMALL * vx_absolute(sum)) return sum;
    }
    precise T result = sum + power * a / (s - T(1)) - T(0.5) * power;
    precise T factor = T(1);
    for (int i = 0; i < 12; ++i) {
        T k = T(2 * i);
        factor *= s + k;
        power /= a;
        precise T term = factor * power / VX_ZETA[i];
        result += term;
        if (vx_absolute(term) < VX_SMALL * vx_absolute(result)) break;
        factor *= s + k + T(1);
        power /= a;
    }
    return result;
}

// The nth derivative of digamma.
T vx_polygamma(T n, T x) {
    if (n == T(0)) return vx_digamma(x);
    if (n == T(1) && x < T(0)) {
        if (vx_is_integral(x)) return VX_INFINITY;
        precise T ratio = VX_PI / vx_sin_pi(x);
        precise T reflected = ratio * ratio - vx_zeta(T(2), T(1) - x);
        return reflected;
    }
    precise T result = vx_exp(vx_lgamma_positive(n + T(1))) * vx_zeta(n + T(1), x);
    return vx_is_integral(n * T(0.5)) ? -result : result;
}

// -- modified Bessel functions of the first kind, of order 0 or 1 ------------------------------------------------------------

T vx_bessel_series(T x, int order) {
    precise T square = T(0.25) * x * x, term = T(1), sum = T(1);
    for (int k = 1; k < 100 && term > VX_SMALL * T(0.1) * sum; ++k) {
        term *= square / T(k * (k + order));
        sum += term;
    }
    return order == 0 ? sum : T(0.5) * x * sum;
}

// exp(-x) times the function, x large.
T vx_bessel_asymptotic(T x, int order) {
    precise T term = T(1), sum = T(1);
    for (int k = 1; k < 40; ++k) {
        T odd = T(2 * k - 1);
        precise T next = term * (odd * odd - T(4 * order)) / (T(8 * k) * x);
        if (vx_absolute(next) < VX_SMALL * T(0.1) || vx_absolute(next) > vx_absolute(term)) break;
        term = next;
        sum += term;
    }
    return sum / vx_sqrt(T(2) * VX_PI * x);
}

T vx_bessel_i(T x, int order) {
    T size = vx_absolute(x);
    T result;
    if (size < VX_BESSEL_ASYMPTOTIC) {
        result = vx_bessel_series(size, order);
    } else {
        T root = vx_exp(T(0.5) * size);  // what overflows does so at last
        result = size == VX_INFINITY ? size : root * (root * vx_bessel_asymptotic(size, order));
    }
    return order == 1 && x < T(0) ? -result : x != x ? x : result;
}

T vx_bessel_ie(T x, int order) {
    T size = vx_absolute(x);
    T result = size < VX_BESSEL_ASYMPTOTIC ? vx_exp(-size) * vx_bessel_series(size, order)
                                           : vx_bessel_asymptotic(size, order);
    return order == 1 && x < T(0) ? -result : x != x ? x : result;
}

// -- the normal distribution ---------------------------------------------------------------------------------------------------

T vx_erfcx(T x) {
    if (x >= T(0.5)) {
        precise T t = (x - T(3.75)) / (x + T(3.75));
        precise T sum = VX_ERFC[0];
        for (int k = 1; k < VX_ERFC.length(); ++k) sum = sum * t + VX_ERFC[k];
        return x == VX_INFINITY ? T(0) : sum / (T(1) + T(2) * x);
    }
    T head = vx_leading_half(x);
    precise T power = vx_exp(head * head) * vx_exp((x - head) * (x + head));
    precise T result = power * vx_erfc(x);
    return x == -VX_INFINITY ? VX_INFINITY : result;
}

T vx_log_ndtr(T x) {
    precise T scaled = x * VX_ROOT_HALF;
    precise T below = vx_log(T(0.5) * vx_erfcx(-scaled)) - scaled * scaled;
    precise T above = vx_log1p(T(-0.5) * vx_erfc(scaled));
    return x < T(-1) ? below : above;
}

// The start and the steps are those of `vx_erfinv`, from the smaller of p and 1 - p.
T vx_ndtri(T p) {
    if (!(p > T(0) && p < T(1))) return p == T(0) ? -VX_INFINITY : p == T(1) ? VX_INFINITY : VX_NAN;
    precise T rest = T(2) * min(p, T(1) - p);
    precise T magnitude = T(1) - rest;
    precise T x = vx_erfinv_start(magnitude, rest);
    for (int step = 0; step < 4; ++step) {
        precise T error = x < T(0.5) ? vx_erf_small(x) - magnitude : rest - vx_erfc_large(x);
        precise T slope = VX_ERF_SLOPE * vx_exp(-x * x);
        if (slope == T(0)) break;
        precise T move = error / slope;
        x = x - move / (T(1) + x * move);
    }
    precise T result = x / VX_ROOT_HALF;
    return p < T(0.5) ? -result : result;
}

T vx_entr(T x) {
    precise T result = -x * vx_log(x);
    return x > T(0) ? result : x == T(0) ? T(0) : x < T(0) ? -VX_INFINITY : x;
}

#endif
