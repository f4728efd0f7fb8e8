#ifndef LIB_FLOAT64_INVERSE_TRIGONOMETRIC
#define LIB_FLOAT64_INVERSE_TRIGONOMETRIC

#include "lib/float64/bits.glsl"
#include "lib/float64/error_free.glsl"

// Largest errors measured, in ULP: asin 0.58, acos 0.56, atan 0.57, atan2 0.57 (0.75 where the result is subnormal).

const dvec2 vx_double_pi = dvec2(3.141592653589793lf, 1.2246467991473532e-16lf);

// The angle of the point (x, y) in the first quadrant, relative error below 2^-57; the greater coordinate lies in
// [2^-200, 2^200]. Mirrored so that the ratio is at most 1, then turned by atan 0, atan 1/2 or atan 1, which leaves a
// tangent below 0.2361 for a minimax polynomial.
dvec2 vx_pair_angle(dvec2 y, dvec2 x) {
    bool mirrored = y.x > x.x;
    dvec2 less = mirrored ? x : y;
    dvec2 greater = mirrored ? y : x;
    double centre = 0.0lf;
    dvec2 centre_angle = dvec2(0.0lf, 0.0lf);
    precise double upper = 0.72lf * greater.x;
    precise double lower = 0.236lf * greater.x;
    if (less.x > upper) {
        centre = 1.0lf;
        centre_angle = dvec2(0.7853981633974483lf, 3.061616997868383e-17lf);
    } else if (less.x > lower) {
        centre = 0.5lf;
        centre_angle = dvec2(0.4636476090008061lf, 2.2698777452961687e-17lf);
    }
    precise dvec2 less_share = less * centre;
    precise dvec2 greater_share = greater * -centre;
    dvec2 t = vx_pair_divide(vx_pair_add(less, greater_share), vx_pair_add(greater, less_share));
    precise double z = t.x * t.x;
    precise double rest = t.y + t.x * (z * (-0.33333333333333326lf + z * (0.19999999999994894lf + z * (-0.14285714284500783lf + z * (0.11111110969587369lf + z * (-0.0909089973984909lf + z * (0.07691933542861404lf + z * (-0.0665739939205844lf + z * (0.05742652368527578lf + z * -0.040697690288613156lf)))))))));
    dvec2 angle = vx_pair_add(vx_pair_add(centre_angle, t.x), rest);
    if (!mirrored) return angle;
    precise dvec2 right_angle = 0.5lf * vx_double_pi;
    return vx_pair_add(right_angle, -angle);
}

// sqrt(1 - x^2) for |x| <= 1.
dvec2 vx_pair_complement(double x) {
    if (vx_absolute(x) == 1.0lf) return dvec2(0.0lf, 0.0lf);
    return vx_pair_sqrt(vx_pair_multiply(vx_two_sum(1.0lf, x), vx_two_sum(1.0lf, -x)));
}

// Below 2^-27, x is the result of asin and atan to less than 0.2 ULP.
double vx_asin(double x) {
    double magnitude = vx_absolute(x);
    if (vx_is_nan(x) || magnitude < 7.450580596923828e-09lf) return x;
    if (magnitude > 1.0lf) return VX_NAN_DOUBLE;
    return vx_negate_if(vx_pair_angle(dvec2(magnitude, 0.0lf), vx_pair_complement(x)).x, vx_signbit(x));
}

double vx_acos(double x) {
    if (vx_is_nan(x)) return x;
    double magnitude = vx_absolute(x);
    if (magnitude > 1.0lf) return VX_NAN_DOUBLE;
    dvec2 angle = vx_pair_angle(vx_pair_complement(x), dvec2(magnitude, 0.0lf));
    if (vx_signbit(x)) angle = vx_pair_add(vx_double_pi, -angle);
    return angle.x;
}

double vx_atan(double x) {
    double magnitude = vx_absolute(x);
    if (vx_is_nan(x) || magnitude < 7.450580596923828e-09lf) return x;
    if (magnitude > 1e30lf) magnitude = 1e30lf;
    return vx_negate_if(vx_pair_angle(dvec2(magnitude, 0.0lf), dvec2(1.0lf, 0.0lf)).x, vx_signbit(x));
}

double vx_atan2(double y, double x) {
    if (vx_is_nan(y) || vx_is_nan(x)) return VX_NAN_DOUBLE;
    // An infinite operand outweighs a finite one; the origin lies on the x axis.
    bool infinite = vx_is_infinite(y) || vx_is_infinite(x);
    double up = infinite ? (vx_is_infinite(y) ? 1.0lf : 0.0lf) : vx_absolute(y);
    double right = infinite ? (vx_is_infinite(x) ? 1.0lf : 0.0lf) : vx_absolute(x);
    if (up == 0.0lf) right = 1.0lf;
    else if (right == 0.0lf) up = 1.0lf;
    int up_exponent = 0, right_exponent = 0;
    if (up != 0.0lf) up = vx_normalize(up, up_exponent);
    if (right != 0.0lf) right = vx_normalize(right, right_exponent);
    int exponent = up_exponent - right_exponent;
    bool left = vx_signbit(x);
    precise dvec2 angle;
    if (exponent < -30 && up != 0.0lf && !left) {
        angle = vx_pair_divide(dvec2(up, 0.0lf), dvec2(right, 0.0lf));
        angle.x = vx_scale(angle.x, exponent);
    } else {
        precise double scaled = up * vx_double_power_of_two(clamp(exponent, -150, 150));
        angle = vx_pair_angle(dvec2(scaled, 0.0lf), dvec2(right, 0.0lf));
        if (left) angle = vx_pair_add(vx_double_pi, -angle);
    }
    return vx_negate_if(angle.x, vx_signbit(y));
}

#endif
