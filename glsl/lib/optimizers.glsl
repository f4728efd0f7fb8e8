// Steps of optimizers, for the real type computed in.
#ifndef LIB_OPTIMIZERS
#define LIB_OPTIMIZERS

#ifdef DOUBLE
#include "lib/float64/arithmetic.glsl"
#include "lib/float64/classification.glsl"
#include "lib/float64/exponential.glsl"
#include "lib/float64/power.glsl"
#else
#include "lib/float32/arithmetic.glsl"
#include "lib/float32/classification.glsl"
#include "lib/float32/exponential.glsl"
#include "lib/float32/power.glsl"
#endif

#define MAXIMIZE 1u
#define DECOUPLED 2u   // weight decay as in AdamW
#define LARGEST 4u     // AMSGrad
#define NESTEROV 8u
#define FIRST_STEP 16u // momentum begins with the gradient
#define MOMENTUM 32u

T vx_product_sum(T a, T b, T c) {
    precise T result = a * b + c;
    return result;
}

// a + weight * (b - a), from the nearer end.
T vx_lerp(T a, T b, T weight) {
    precise T difference = b - a;
    precise T near = a + weight * difference;
    precise T far = b - difference * (T(1) - weight);
    return vx_absolute(weight) < T(0.5) ? near : far;
}

// 1 - base^step from the logarithm of the base: without cancellation.
T vx_correction(T logarithm, T step) { return vx_negative(vx_expm1(logarithm * step)); }

// D. P. Kingma, J. Ba, "Adam", ICLR 2015; I. Loshchilov, F. Hutter, "Decoupled weight decay regularization", ICLR 2019.
// x: parameter, gradient, first and second moment, and the largest second moment. The device's own root and quotient, which
// are off by a few ULP, will do for what moves a parameter by a fraction.
void vx_adam(
    inout T x[5], T rate, T decay, T epsilon, T first_weight, T second, T second_weight, T step_size, T root, uint flags
) {
    precise T gradient = (flags & MAXIMIZE) != 0u ? vx_negative(x[1]) : x[1];
    precise T parameter = x[0];
    if ((flags & DECOUPLED) != 0u) parameter -= rate * decay * parameter;
    else gradient += decay * parameter;
    precise T mean = vx_lerp(x[2], gradient, first_weight);
    precise T square = second * x[3] + second_weight * gradient * gradient;
    precise T largest = vx_maximum(x[4], square);
    precise T denominator = sqrt((flags & LARGEST) != 0u ? largest : square) * root + epsilon;
    precise T moved = parameter - step_size * (mean / denominator);
    x[0] = moved;
    x[2] = mean;
    x[3] = square;
    x[4] = largest;
}

// x: parameter, gradient and momentum.
void vx_sgd(inout T x[3], T rate, T decay, T momentum, T dampening, uint flags) {
    precise T gradient = (flags & MAXIMIZE) != 0u ? vx_negative(x[1]) : x[1];
    gradient += decay * x[0];
    if ((flags & MOMENTUM) != 0u) {
        precise T kept = (flags & FIRST_STEP) != 0u ? gradient : momentum * x[2] + (T(1) - dampening) * gradient;
        x[2] = kept;
        precise T ahead = gradient + momentum * kept;
        gradient = (flags & NESTEROV) != 0u ? ahead : kept;
    }
    precise T moved = x[0] - rate * gradient;
    x[0] = moved;
}

// J. Duchi, E. Hazan, Y. Singer, "Adaptive subgradient methods", Journal of Machine Learning Research 12, 2011.
// x: parameter, gradient and the sum of its squares.
void vx_adagrad(inout T x[3], T rate, T decay, T epsilon, uint flags) {
    precise T gradient = (flags & MAXIMIZE) != 0u ? vx_negative(x[1]) : x[1];
    gradient += decay * x[0];
    precise T sum = x[2] + gradient * gradient;
    precise T moved = x[0] - rate * (gradient / (sqrt(sum) + epsilon));
    x[0] = moved;
    x[2] = sum;
}

#endif
