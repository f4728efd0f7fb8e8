// How numbers drawn from a gamma or beta distribution move with its parameters, for gradients through samples.
// M. Jankowiak, F. Obermeyer, "Pathwise derivatives beyond the reparameterization trick", ICML 2018, with the coefficients of
// its authors' implementation in PyTorch.
#ifndef LIB_SAMPLE_GRADIENTS
#define LIB_SAMPLE_GRADIENTS

#include "lib/special.glsl"

const T VX_GAMMA_OF_SHAPE[24] = T[](
    T(0.16009398lf), T(-0.094634809lf), T(0.025146376lf), T(-0.0030648343lf),
    T(1.0lf), T(0.32668115lf), T(0.10406089lf), T(0.0014179084lf),
    T(0.53487893lf), T(0.1298071lf), T(0.065735949lf), T(-0.0015649758lf),
    T(0.16639465lf), T(0.020070113lf), T(-0.0035938915lf), T(-0.00058392623lf),
    T(0.040121004lf), T(-0.0065914022lf), T(-0.0026286047lf), T(-0.0013441777lf),
    T(0.017050642lf), T(-0.0021309326lf), T(0.00085092367lf), T(-1.5247877e-07lf));

const T VX_BETA_NUMERATOR[36] = T[](
    T(1.003668233lf), T(-0.01061107488lf), T(-0.0657888334lf), T(0.01201642863lf),
    T(0.6336835991lf), T(-0.3557432599lf), T(0.05486251648lf), T(-0.001465281033lf),
    T(-0.03276231906lf), T(0.004474107445lf), T(0.002429354597lf), T(-0.0001557569013lf),
    T(0.221950385lf), T(-0.3187676331lf), T(0.01799915743lf), T(0.01074823814lf),
    T(-0.2951249643lf), T(0.06219954479lf), T(0.01535556598lf), T(0.001550077057lf),
    T(0.02155310298lf), T(0.004170831599lf), T(0.001292462449lf), T(6.976601077e-05lf),
    T(-0.05980841433lf), T(0.008441916499lf), T(0.01085618172lf), T(0.002319392565lf),
    T(0.02911413504lf), T(0.01400243777lf), T(-0.002721828457lf), T(0.000751041181lf),
    T(0.005900514878lf), T(-0.001936558688lf), T(-9.495446725e-06lf), T(5.385558597e-05lf));

const T VX_BETA_DENOMINATOR[36] = T[](
    T(1.0lf), T(-0.02924021934lf), T(-0.04438342661lf), T(0.007285809825lf),
    T(0.6357567472lf), T(-0.3473456711lf), T(0.05454656494lf), T(-0.002407477521lf),
    T(-0.03301322327lf), T(0.004845219414lf), T(0.00231480583lf), T(-0.0002307248149lf),
    T(0.5925320577lf), T(-0.1757678135lf), T(0.01505928619lf), T(0.000564515273lf),
    T(0.1014815858lf), T(-0.06589186703lf), T(0.01272886114lf), T(-0.0007316646956lf),
    T(-0.007258481865lf), T(0.001096195486lf), T(0.0003934994223lf), T(-4.12701925e-05lf),
    T(0.06469649321lf), T(-0.0236701437lf), T(0.002902096474lf), T(-5.896963079e-05lf),
    T(0.001925008108lf), T(-0.002869809258lf), T(0.0008000589141lf), T(-6.063713228e-05lf),
    T(-0.0003477407336lf), T(6.959756487e-05lf), T(1.097287507e-05lf), T(-1.650964693e-06lf));

T vx_number_or_0(T x) { return x != x ? T(0) : x; }

// Taylor's series of the distribution function for small x.
T vx_gamma_sample_small(T alpha, T x) {
    precise T numerator = T(1), denominator = alpha, series = T(1) / alpha, squares = T(1) / (alpha * alpha);
    for (int i = 1; i <= 5; ++i) {
        numerator *= -x / T(i);
        denominator += T(1);
        series += numerator / denominator;
        squares += numerator / (denominator * denominator);
    }
    precise T power = vx_pow(x, alpha);
    precise T density = vx_pow(x, alpha - T(1)) * vx_exp(-x);
    precise T slope = (vx_log(x) - vx_digamma(alpha)) * (power * series) - power * squares;
    return vx_number_or_0(-slope / density);
}

// Rice's saddle point expansion for large alpha.
T vx_gamma_sample_large(T alpha, T x) {
    precise T square = alpha * alpha;
    if (T(0.9) * alpha <= x && x <= T(1.1) * alpha) {
        precise T first = T(1) + T(24) * alpha * (T(1) + T(12) * alpha);
        precise T second = T(1440) * square + T(6) * x * (T(53) - T(120) * x) - T(65) * x * x / alpha
            + alpha * (T(107) + T(3600) * x);
        precise T near = first * second / (T(1244160) * square * square);
        return near;
    }
    precise T root = vx_sqrt(T(8) * alpha), logarithm = vx_log(x / alpha), distance = alpha - x;
    precise T deviance = x - alpha - alpha * logarithm;
    precise T third = T(1) / (deviance * vx_sqrt(deviance));
    precise T both = root / distance + (x < alpha ? -third : third);
    precise T term = logarithm * both - vx_sqrt(T(2) / alpha) * (alpha + x) / (distance * distance);
    precise T stirling = T(1) + T(1) / (T(12) * alpha) * (T(1) + T(1) / (T(24) * alpha));
    precise T far = -stirling * x * term / root;
    return far;
}

// dx / dalpha of x drawn from the gamma distribution with the shape alpha.
T vx_gamma_sample_gradient(T alpha, T x) {
    if (x < T(0.8)) return vx_gamma_sample_small(alpha, x);
    if (alpha > T(8)) return vx_gamma_sample_large(alpha, x);
    precise T u = vx_log(x / alpha), v = vx_log(alpha), numerator = T(0), denominator = T(0);
    for (int i = 3; i >= 0; --i) {
        precise T upper = VX_GAMMA_OF_SHAPE[i] + u * (VX_GAMMA_OF_SHAPE[8 + i] + u * VX_GAMMA_OF_SHAPE[16 + i]);
        precise T lower = VX_GAMMA_OF_SHAPE[4 + i] + u * (VX_GAMMA_OF_SHAPE[12 + i] + u * VX_GAMMA_OF_SHAPE[20 + i]);
        numerator = numerator * v + upper;
        denominator = denominator * v + lower;
    }
    return vx_exp(numerator / denominator);
}

// Taylor's series in x for that of alpha, and of beta.
T vx_beta_sample_of_alpha(T x, T alpha, T beta) {
    precise T factor = vx_digamma(alpha) - vx_digamma(alpha + beta) - vx_log(x);
    precise T numerator = T(1), series = T(1) / alpha * (factor + T(1) / alpha);
    for (int i = 1; i <= 10; ++i) {
        numerator *= (T(i) - beta) * x / T(i);
        precise T denominator = alpha + T(i);
        series += numerator / denominator * (factor + T(1) / denominator);
    }
    precise T result = x * vx_pow(T(1) - x, -beta) * series;
    return vx_number_or_0(result);
}

T vx_beta_sample_of_beta(T x, T alpha, T beta) {
    precise T factor = vx_digamma(alpha + beta) - vx_digamma(beta);
    precise T numerator = T(1), betas = T(1), slopes = T(0), series = factor / alpha;
    for (int i = 1; i <= 8; ++i) {
        numerator *= -x / T(i);
        slopes = slopes * (beta - T(i)) + betas;
        betas = betas * (beta - T(i));
        series += numerator / (alpha + T(i)) * (slopes + factor * betas);
    }
    precise T result = -vx_pow(T(1) - x, T(1) - beta) * series;
    return vx_number_or_0(result);
}

// Rice's saddle point expansion for large alpha and beta.
T vx_beta_sample_large(T x, T alpha, T beta) {
    precise T total = alpha + beta, mean = alpha / total, rest = T(1) - x, square = beta * beta;
    precise T deviation = vx_sqrt(alpha * beta / (total + T(1))) / total;
    if (mean - T(0.1lf) * deviation <= x && x <= mean + T(0.1lf) * deviation) {
        precise T sum = T(8) * rest * (T(135) * beta - T(11));
        sum = (T(453) + T(1620) * beta * rest - T(455) * x) * beta + alpha * sum;
        sum = T(3) * (T(59) + T(180) * beta - T(90) * x) * square + alpha * sum;
        sum = (T(43) + T(20) * (T(16) + T(27) * beta) * x) * square * beta + alpha * sum;
        sum = T(47) * x * square * square + alpha * sum;
        precise T above = (T(1) + T(12) * alpha) * (T(1) + T(12) * beta) / (total * total);
        precise T below = T(12960) * alpha * alpha * alpha * square * (T(1) + T(12) * total);
        precise T near = above / rest * sum / below;
        return near;
    }
    precise T of_alpha = T(1) + T(1) / (T(12) * alpha) + T(1) / (T(288) * alpha * alpha);
    precise T of_beta = T(1) + T(1) / (T(12) * beta) + T(1) / (T(288) * square);
    precise T of_total = T(1) + T(1) / (T(12) * total) + T(1) / (T(288) * total * total);
    precise T distance = beta * x - alpha * rest;
    precise T first = (-T(2) * alpha * alpha * rest - alpha * beta * rest - x * square)
        / (vx_sqrt(T(2) * alpha / beta) * total * vx_sqrt(total) * distance * distance);
    precise T second = T(0.5) * vx_log(alpha / (total * x));
    precise T third = vx_sqrt(T(8) * alpha * beta / total) / distance;
    precise T deviance = beta * vx_log(beta / (total * rest)) + alpha * vx_log(alpha / (total * x));
    precise T fourth = T(1) / (deviance * vx_sqrt(deviance));
    precise T terms = first + second * (third + (x < mean ? fourth : -fourth));
    precise T factor = -x / vx_sqrt(T(2) * alpha * beta / total);
    precise T far = of_alpha * of_beta / of_total * factor * terms;
    return far;
}

// dx / dalpha / (1 - x) of x drawn from the beta distribution of alpha and total - alpha.
T vx_beta_sample_gradient(T x, T alpha, T total) {
    precise T beta = total - alpha, boundary = total * x * (T(1) - x);
    if (x <= T(0.5) && boundary < T(2.5)) return vx_beta_sample_of_alpha(x, alpha, beta);
    if (x >= T(0.5) && boundary < T(0.75)) return -vx_beta_sample_of_beta(T(1) - x, beta, alpha);
    if (alpha > T(6) && beta > T(6)) return vx_beta_sample_large(x, alpha, beta);
    precise T u = vx_log(x), a = vx_log(alpha) - u, b = vx_log(total) - a, numerator = T(0), denominator = T(0), power = T(1);
    for (int i = 0; i < 3; ++i) {
        precise T product = power;
        for (int j = 0; j < 3; ++j) {
            precise T upper = T(0), lower = T(0);
            for (int k = 3; k >= 0; --k) {
                upper = upper * b + VX_BETA_NUMERATOR[12 * i + 4 * j + k];
                lower = lower * b + VX_BETA_DENOMINATOR[12 * i + 4 * j + k];
            }
            numerator += product * upper;
            denominator += product * lower;
            product *= a;
        }
        power *= u;
    }
    precise T near = x * (vx_digamma(total) - vx_digamma(alpha)) / beta;
    precise T result = numerator / denominator * near;
    return result;
}

#endif
