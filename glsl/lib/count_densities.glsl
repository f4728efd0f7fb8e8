// Logarithms of the probabilities of counts, by C. Loader, "Fast and accurate computation of binomial probabilities", 2000. All
// divisions are correctly rounded, for the device's own differ between drivers. What is needed several times is written as a
// loop: drivers copy a function to each place that calls it, which takes their compilers long.
#ifndef LIB_COUNT_DENSITIES
#define LIB_COUNT_DENSITIES

#include "lib/special.glsl"

// log n! - log(sqrt(2 pi n) (n / e)^n), 0 for 0.
const T VX_STIRLING_ERRORS[16] = T[](
    T(0), T(0.08106146679532725822lf), T(0.041340695955409294094lf), T(0.027677925684998339149lf),
    T(0.020790672103765093112lf), T(0.016644691189821192163lf), T(0.013876128823070747999lf), T(0.011896709945891770095lf),
    T(0.010411265261972096497lf), T(0.0092554621827127329177lf), T(0.0083305634333628712565lf), T(0.007573675487951840795lf),
    T(0.0069428401072095298657lf), T(0.0064089941880042070684lf), T(0.0059513701127588477356lf), T(0.005554733551962801371lf));

T vx_stirling_error_of_count(T n) {
    if (n < T(16)) return VX_STIRLING_ERRORS[int(n)];
    precise T inverse = vx_divide(T(1), n), square = inverse * inverse;
    precise T series = inverse * (T(1) / T(12) - square * (T(1) / T(360) - square * (T(1) / T(1260) - square * (T(1) / T(1680)
        - square * (T(1) / T(1188))))));
    return series;
}

const T VX_ODD_RECIPROCALS[11] = T[](
    T(1) / T(3), T(1) / T(5), T(1) / T(7), T(1) / T(9), T(1) / T(11), T(1) / T(13), T(1) / T(15), T(1) / T(17), T(1) / T(19),
    T(1) / T(21), T(1) / T(23));

// n log(n / mean) + mean - n without cancellation.
T vx_deviance_of_count(T n, T mean) {
    precise T distance = n - mean, sum = n + mean;
    bool near = vx_absolute(distance) < T(0.1lf) * sum;
    precise T ratio = vx_divide(near ? distance : n, near ? sum : mean);
    if (near) {
        precise T square = ratio * ratio, result = distance * ratio, power = T(2) * n * ratio;
        for (int j = 0; j < 11; ++j) {
            power *= square;
            result += power * VX_ODD_RECIPROCALS[j];
        }
        return result;
    }
    precise T far = n * vx_log(ratio) + mean - n;
    return n == T(0) ? mean : far;
}

// Of k successes in `count` trials.
T vx_binomial_density(T count, T p, T k) {
    precise T rest = count - k, result = T(0);
    for (int j = 0; j < 3; ++j) {
        T n = j == 0 ? k : j == 1 ? rest : count;
        precise T mean = count * (j == 0 ? p : j == 1 ? T(1) - p : T(1));
        precise T part = vx_stirling_error_of_count(n) + vx_deviance_of_count(n, mean);
        result += j == 2 ? part : -part;
    }
    if (k == T(0) || rest == T(0)) return result;
    precise T density = result - T(0.5) * vx_log(T(2) * VX_PI * vx_divide(k, count) * rest);
    return density;
}

// Of n with this mean.
T vx_poisson_density(T n, T mean) {
    precise T result = -vx_stirling_error_of_count(n) - vx_deviance_of_count(n, mean);
    if (n == T(0)) return result;
    precise T density = result - T(0.5) * vx_log(T(2) * VX_PI * n);
    return density;
}

// Of k good ones among `taken` of good + bad.
T vx_hypergeometric_density(T good, T bad, T taken, T k) {
    precise T all = good + bad, p = vx_divide(taken, all), result = T(0);
    for (int j = 0; j < 3; ++j) {
        precise T part = vx_binomial_density(j == 0 ? good : j == 1 ? bad : all, p, j == 0 ? k : j == 1 ? taken - k : taken);
        result += j == 2 ? -part : part;
    }
    return result;
}

#endif
