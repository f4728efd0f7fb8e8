// The error of Stirling's formula, deviances, and the incomplete gamma functions.
#ifndef LIB_INCOMPLETE_GAMMA
#define LIB_INCOMPLETE_GAMMA

#include "lib/special.glsl"

#ifdef DOUBLE
#define VX_STIRLING T(16)
#else
#define VX_STIRLING T(4)
#endif

// log gamma(n + 1) - log(sqrt(2 pi n) (n / e)^n), for n > 0; 0 for 0.
T vx_stirling_error(T n) {
    if (n == T(0)) return T(0);
    if (n < VX_STIRLING) {
        precise T exact = vx_lgamma_positive(n + T(1)) - (n + T(0.5)) * vx_log(n) + n - VX_HALF_LOG_2_PI;
        return exact;
    }
    precise T square = T(1) / (n * n);
    precise T series = (T(1) / T(12) - square * (T(1) / T(360) - square * (T(1) / T(1260) - square * (T(1) / T(1680)
        - square / T(1188))))) / n;
    return series;
}

// x log(x / mean) + mean - x without cancellation: C. Loader, "Fast and accurate computation of binomial probabilities", 2000.
T vx_deviance(T x, T mean) {
    precise T distance = x - mean, sum = x + mean;
    if (vx_absolute(distance) < T(0.1lf) * sum) {
        precise T ratio = distance / sum, square = ratio * ratio, result = distance * ratio, power = T(2) * x * ratio;
        for (int j = 1; j < 20; ++j) {
            power *= square;
            precise T next = result + power / T(2 * j + 1);
            if (next == result) break;
            result = next;
        }
        return result;
    }
    precise T far = x * vx_log(x / mean) + mean - x;
    return x == T(0) ? mean : far;
}

// x^a exp(-x) / gamma(a + 1).
T vx_gamma_factor(T a, T x) {
    if (a < T(1)) {
        precise T small = vx_exp(a * vx_log(x) - x - vx_lgamma_positive(a + T(1)));
        return small;
    }
    precise T result = vx_exp(-vx_deviance(a, x) - vx_stirling_error(a)) / vx_sqrt(T(2) * VX_PI * a);
    return result;
}

// d(k, n) of DLMF 8.12.8 and 8.12.10, 20 for each k.
const T VX_TEMME[120] = T[](
    T(-3.3333333333333333e-1lf), T(8.3333333333333333e-2lf), T(-1.4814814814814815e-2lf), T(1.1574074074074074e-3lf),
    T(3.527336860670194e-4lf), T(-1.7875514403292181e-4lf), T(3.9192631785224378e-5lf), T(-2.1854485106799922e-6lf),
    T(-1.85406221071516e-6lf), T(8.296711340953086e-7lf), T(-1.7665952736826079e-7lf), T(6.7078535434014986e-9lf),
    T(1.0261809784240308e-8lf), T(-4.3820360184533532e-9lf), T(9.1476995822367902e-10lf), T(-2.551419399494625e-11lf),
    T(-5.8307721325504251e-11lf), T(2.4361948020667416e-11lf), T(-5.0276692801141756e-12lf), T(1.1004392031956135e-13lf),
    T(-1.8518518518518519e-3lf), T(-3.4722222222222222e-3lf), T(2.6455026455026455e-3lf), T(-9.9022633744855967e-4lf),
    T(2.0576131687242798e-4lf), T(-4.0187757201646091e-7lf), T(-1.8098550334489978e-5lf), T(7.6491609160811101e-6lf),
    T(-1.6120900894563446e-6lf), T(4.6471278028074343e-9lf), T(1.378633446915721e-7lf), T(-5.752545603517705e-8lf),
    T(1.1951628599778147e-8lf), T(-1.7543241719747648e-11lf), T(-1.0091543710600413e-9lf), T(4.1627929918425826e-10lf),
    T(-8.5639070264929806e-11lf), T(6.0672151016047586e-14lf), T(7.1624989648114854e-12lf), T(-2.9331866437714371e-12lf),
    T(4.1335978835978836e-3lf), T(-2.6813271604938272e-3lf), T(7.7160493827160494e-4lf), T(2.0093878600823045e-6lf),
    T(-1.0736653226365161e-4lf), T(5.2923448829120125e-5lf), T(-1.2760635188618728e-5lf), T(3.4235787340961381e-8lf),
    T(1.3721957309062933e-6lf), T(-6.298992138380055e-7lf), T(1.4280614206064242e-7lf), T(-2.0477098421990866e-10lf),
    T(-1.4092529910867521e-8lf), T(6.228974084922022e-9lf), T(-1.3670488396617113e-9lf), T(9.4283561590146782e-13lf),
    T(1.2872252400089318e-10lf), T(-5.5645956134363321e-11lf), T(1.1975935546366981e-11lf), T(-4.1689782251838635e-15lf),
    T(6.4943415637860082e-4lf), T(2.2947209362139918e-4lf), T(-4.6918949439525571e-4lf), T(2.6772063206283885e-4lf),
    T(-7.5618016718839764e-5lf), T(-2.3965051138672967e-7lf), T(1.1082654115347302e-5lf), T(-5.6749528269915966e-6lf),
    T(1.4230900732435884e-6lf), T(-2.7861080291528142e-11lf), T(-1.6958404091930277e-7lf), T(8.0994649053880824e-8lf),
    T(-1.9111168485973654e-8lf), T(2.3928620439808118e-12lf), T(2.0620131815488798e-9lf), T(-9.4604966618551322e-10lf),
    T(2.1541049775774908e-10lf), T(-1.388823336813903e-14lf), T(-2.1894761681963939e-11lf), T(9.7909989511716851e-12lf),
    T(-8.618882909167117e-4lf), T(7.8403922172006663e-4lf), T(-2.9907248030319018e-4lf), T(-1.4638452578843418e-6lf),
    T(6.6414982154651222e-5lf), T(-3.9683650471794347e-5lf), T(1.1375726970678419e-5lf), T(2.5074972262375328e-10lf),
    T(-1.6954149536558306e-6lf), T(8.9075075322053097e-7lf), T(-2.2929348340008049e-7lf), T(2.956794137544049e-11lf),
    T(2.8865829742708784e-8lf), T(-1.4189739437803219e-8lf), T(3.4463580499464897e-9lf), T(-2.3024517174528067e-13lf),
    T(-3.9409233028046405e-10lf), T(1.8602338968504502e-10lf), T(-4.356323005056618e-11lf), T(1.2786001016296231e-15lf),
    T(-3.3679855336635815e-4lf), T(-6.9728137583658578e-5lf), T(2.7727532449593921e-4lf), T(-1.9932570516188848e-4lf),
    T(6.7977804779372078e-5lf), T(1.419062920643967e-7lf), T(-1.3594048189768693e-5lf), T(8.0184702563342015e-6lf),
    T(-2.2914811765080952e-6lf), T(-3.252473551298454e-10lf), T(3.4652846491085265e-7lf), T(-1.8447187191171343e-7lf),
    T(4.8240967037894181e-8lf), T(-1.7989466721743515e-14lf), T(-6.3061945000135234e-9lf), T(3.1624176287745679e-9lf),
    T(-7.8409242536974293e-10lf), T(5.1926791652540407e-15lf), T(9.3589442423067836e-11lf), T(-4.5134262161632782e-11lf));

// The uniform expansion for large a (N. M. Temme, "The asymptotic expansion of the incomplete gamma functions", 1979; DLMF
// 8.12.3 and 8.12.4), from a = 200 on, |x - a| < 0.3 a.
T vx_gamma_uniform(T a, T x, bool upper) {
    precise T sigma = (x - a) / a, half_square = vx_deviance(a, x) / a;
    precise T size = vx_sqrt(T(2) * half_square), eta = sigma < T(0) ? -size : size;
    precise T sum = T(0), power = T(1);
    for (int k = 0; k < 6; ++k) {
        precise T row = VX_TEMME[20 * k + 19];
        for (int n = 18; n >= 0; --n) row = row * eta + VX_TEMME[20 * k + n];
        sum += row * power;
        power /= a;
    }
    precise T rest = vx_exp(-a * half_square) * sum / vx_sqrt(T(2) * VX_PI * a);
    precise T argument = eta * vx_sqrt(T(0.5) * a);
    precise T result = upper ? T(0.5) * vx_erfc(argument) + rest : T(0.5) * vx_erfc(-argument) - rest;
    return result;
}

// DLMF 8.11.4.
T vx_gamma_lower_series(T a, T x) {
    precise T denominator = a, term = T(1), sum = T(1);
    for (int i = 0; i < 2000; ++i) {
        denominator += T(1);
        term *= x / denominator;
        sum += term;
        if (term <= VX_SMALL * sum) break;
    }
    precise T result = vx_gamma_factor(a, x) * sum;
    return result;
}

// DLMF 8.7.3, for small x.
T vx_gamma_upper_series(T a, T x) {
    precise T factor = T(1), sum = T(0);
    for (int n = 1; n < 2000; ++n) {
        factor *= -x / T(n);
        precise T term = factor / (a + T(n));
        sum += term;
        if (vx_absolute(term) <= VX_SMALL * vx_absolute(sum)) break;
    }
    precise T logarithm = a * vx_log(x) - vx_lgamma_positive(a + T(1));
    precise T result = -vx_expm1(logarithm) - vx_exp(logarithm) * a * sum;
    return result;
}

// DLMF 8.9.2, by Lentz's method.
T vx_gamma_upper_fraction(T a, T x) {
    const T tiny = T(1.0e-30lf);
    precise T b = x + T(1) - a, c = T(1) / tiny, d = T(1) / b, result = d;
    for (int i = 1; i < 2000; ++i) {
        precise T numerator = -T(i) * (T(i) - a);
        b += T(2);
        precise T below = numerator * d + b;
        precise T above = b + numerator / c;
        d = T(1) / (below == T(0) ? tiny : below);
        c = above == T(0) ? tiny : above;
        precise T factor = d * c;
        result *= factor;
        if (vx_absolute(factor - T(1)) <= T(2) * VX_SMALL) break;
    }
    result = vx_gamma_factor(a, x) * a * result;
    return result;
}

// gamma(a, x) / gamma(a), the regularized lower function, or with `upper` one less that.
T vx_incomplete_gamma(T a, T x, bool upper) {
    if (a != a || x != x || x < T(0) || a < T(0) || (a == T(0) && x == T(0))) return VX_NAN;
    if (a == VX_INFINITY && x == VX_INFINITY) return VX_NAN;
    if (x == T(0) || a == VX_INFINITY) return upper ? T(1) : T(0);
    if (a == T(0) || x == VX_INFINITY) return upper ? T(0) : T(1);
    if (a > T(200) && vx_absolute(x - a) < T(0.3lf) * a) return vx_gamma_uniform(a, x, upper);
    T result;
    bool is_upper = false;
    if (x > T(1.1lf)) {
        is_upper = x >= a;
        result = is_upper ? vx_gamma_upper_fraction(a, x) : vx_gamma_lower_series(a, x);
    } else {
        is_upper = upper && (x <= T(0.5) ? T(-0.4lf) / vx_log(x) >= a : x * T(1.1lf) >= a);
        result = is_upper ? vx_gamma_upper_series(a, x) : vx_gamma_lower_series(a, x);
    }
    precise T other = T(1) - result;
    return is_upper == upper ? result : other;
}

#endif
