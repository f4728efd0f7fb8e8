// The modified Bessel function of the first kind of order 0, for float64: within 0.6 ULP.
#ifndef LIB_FLOAT64_BESSEL
#define LIB_FLOAT64_BESSEL
#include "lib/float64/bits.glsl"
#include "lib/float64/error_free.glsl"
#include "lib/float64/exponential.glsl"

// 1 / k!^2 as pairs, that of the largest k first.
const dvec2 VX_I0_SERIES_FLOAT64[41] = dvec2[](
    dvec2(1.5021381070956227e-96lf, -8.533294767644056e-113lf),
    dvec2(2.4034209713529963e-93lf, -1.6314496528235582e-109lf),
    dvec2(3.6556032974279072e-90lf, -9.78375098421755e-107lf), dvec2(5.278691161485898e-87lf, 1.220757487084667e-103lf),
    dvec2(7.226528200074194e-84lf, -1.5934874403160937e-101lf),
    dvec2(9.365580547296156e-81lf, -6.936425732135001e-97lf), dvec2(1.147283617043779e-77lf, -1.3923967163112649e-96lf),
    dvec2(1.3262598613026087e-74lf, -7.83996381635881e-91lf),
    dvec2(1.4442969889585408e-71lf, -3.1377177841872446e-88lf),
    dvec2(1.4789601166935458e-68lf, -3.2130230110077385e-85lf),
    dvec2(1.4212806721424974e-65lf, 7.166219604641876e-82lf), dvec2(1.2791526049282477e-62lf, 3.497782220073143e-79lf),
    dvec2(1.0757673407446564e-59lf, -4.20479463225914e-76lf), dvec2(8.434015951438106e-57lf, -2.942821527674497e-73lf),
    dvec2(6.14839762859838e-54lf, -5.4393201585979254e-70lf), dvec2(4.156316796932504e-51lf, 8.20432030496301e-68lf),
    dvec2(2.5976979980828152e-48lf, -6.979148685241862e-65lf),
    dvec2(1.4962740468957016e-45lf, -1.179875874002574e-61lf), dvec2(7.915289708078262e-43lf, -5.774817227634031e-59lf),
    dvec2(3.8310002187098785e-40lf, -1.3293669799330147e-56lf),
    dvec2(1.6894710964510564e-37lf, -6.922870357554355e-54lf),
    dvec2(6.757884385804225e-35lf, -4.3047902169107094e-52lf), dvec2(2.4395962632753253e-32lf, 9.992314279293519e-49lf),
    dvec2(7.904291893012054e-30lf, 2.0332689587119604e-46lf),
    dvec2(2.2843403570804838e-27lf, -1.1640083513382648e-43lf),
    dvec2(5.8479113141260385e-25lf, -2.979861379425958e-41lf),
    dvec2(1.3157800456783586e-22lf, -2.5720907765988003e-39lf),
    dvec2(2.5789288895295828e-20lf, 9.064634287733802e-37lf), dvec2(4.358389823304995e-18lf, 1.1756839171763609e-35lf),
    dvec2(6.276081345559193e-16lf, -4.761082173557928e-32lf), dvec2(7.594058428126623e-14lf, -6.333135460685159e-31lf),
    dvec2(7.594058428126624e-12lf, -6.186894318824439e-28lf), dvec2(6.151187326782565e-10lf, -3.557355977744427e-26lf),
    dvec2(3.936759889140842e-08lf, -2.276707825756433e-24lf),
    dvec2(1.9290123456790124e-06lf, -4.5384234457823004e-23lf), dvec2(6.944444444444444e-05lf, 6.023345402697247e-23lf),
    dvec2(0.001736111111111111lf, 9.637352644315594e-20lf), dvec2(0.027777777777777776lf, 1.5419764230904951e-18lf),
    dvec2(0.25lf, 0.0lf), dvec2(1.0lf, 0.0lf), dvec2(1.0lf, 0.0lf));
// The coefficients of (8 x)^-k in the asymptotic series (Abramowitz and Stegun, 9.7.1), that of the largest k first.
const double VX_I0_ASYMPTOTIC_FLOAT64[28] = double[](
    2.4753422361314082e+44lf, 2.291225871460477e+42lf, 2.202317498377817e+40lf, 2.201470778847491e+38lf,
    2.2922436264551135e+36lf, 2.490441241961192e+34lf, 2.8286493118571558e+32lf, 3.36561843487601e+30lf,
    4.204520352908758e+28lf, 5.528626368058853e+26lf, 7.673038786933397e+24lf, 1.127466923794295e+23lf,
    1.7600493759874212e+21lf, 2.9303631650154775e+19lf, 5.2265692598373555e+17lf, 1.0037307220538132e+16lf,
    208775990187193.12lf, 4735939285909.863lf, 118130004863.96484lf, 3272299303.7109375lf, 101905514.6484375lf,
    3623307.1875lf, 150077.8125lf, 7441.875lf, 459.375lf, 37.5lf, 4.5lf, 1.0lf);

double vx_i0(double given) {
    double x = vx_absolute(given);
    if (!vx_is_finite(x)) return x;
    if (x < 22.0lf) {
        // The powers of (x / 2)^2 in pairs.
        precise double half_x = 0.5lf * x;
        dvec2 square = vx_two_product(half_x, half_x);
        dvec2 sum = VX_I0_SERIES_FLOAT64[0];
        for (int k = 1; k < VX_I0_SERIES_FLOAT64.length(); ++k) {
            sum = vx_pair_add(VX_I0_SERIES_FLOAT64[k], vx_pair_multiply(sum, square));
        }
        return x < 1e-8lf ? 1.0lf : sum.x;
    }
    precise double limited = x > 720.0lf ? 720.0lf : x;
    precise double inverse = 0.125lf * vx_reciprocal_approximation(limited);
    precise double rest = VX_I0_ASYMPTOTIC_FLOAT64[0];
    for (int k = 1; k < VX_I0_ASYMPTOTIC_FLOAT64.length(); ++k) rest = VX_I0_ASYMPTOTIC_FLOAT64[k] + rest * inverse;
    // exp(x) (1 + rest / 8 x) / sqrt(2 pi x), the exponent of the power apart.
    int k;
    dvec2 power = vx_pair_exp(dvec2(limited, 0.0lf), k);
    precise double grown = rest * inverse;
    dvec2 product = vx_pair_multiply(power, dvec2(1.0lf, grown));
    dvec2 root = vx_pair_sqrt(vx_pair_multiply(dvec2(6.283185307179586lf, 2.4492935982947064e-16lf), limited));
    return vx_scale(vx_pair_divide(product, root).x, k);
}

#endif
