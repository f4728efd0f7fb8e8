#ifndef LIB_FLOAT64_TRIGONOMETRIC
#define LIB_FLOAT64_TRIGONOMETRIC

#include "lib/float64/bits.glsl"
#include "lib/float64/error_free.glsl"

// Largest errors measured, in ULP, over all finite arguments: sin 0.56, cos 0.55, tan 0.56.

// x = k pi/2 + r with |r| <= pi/4 and k = quadrant modulo 4. Every reduction gives r to a relative error below 2^-60:
// no double is nearer to a multiple of pi/2 than 2^-62 (Muller's Handbook, 11.3).

// Cody and Waite: pi/2 in parts of 33, 33, 33 and 53 bits, so that k times each of the first three is exact. |x| < 2^20.
dvec2 vx_reduce_moderate(double x, out int quadrant) {
    precise double shifted = x * 0.6366197723675814lf + 6755399441055744.0lf;
    quadrant = int(unpackDouble2x32(shifted).x);
    precise double k = shifted - 6755399441055744.0lf;
    precise double first = x - k * 1.5707963267341256lf;
    precise double k_2 = k * 6.077100506303966e-11lf;
    precise double k_3 = k * 2.0222662487111665e-21lf;
    dvec2 second = vx_two_sum(first, -k_2);
    dvec2 third = vx_two_sum(second.x, -k_3);
    precise double rest = (second.y + third.y) - k * 8.4784276603689e-32lf;
    return vx_fast_two_sum(third.x, rest);
}

// Seven words from word `start` (at most 32) of the bits of 2/pi, which 64 zeros precede, by halving the choice six
// times: an array indexed by a variable is copied to memory by every invocation on some drivers.
void vx_two_over_pi(uint start, out uint window[7]) {
    uvec4 t0 = uvec4(0x00000000u, 0x00000000u, 0xA2F9836Eu, 0x4E441529u);
    uvec4 t1 = uvec4(0xFC2757D1u, 0xF534DDC0u, 0xDB629599u, 0x3C439041u);
    uvec4 t2 = uvec4(0xFE5163ABu, 0xDEBBC561u, 0xB7246E3Au, 0x424DD2E0u);
    uvec4 t3 = uvec4(0x06492EEAu, 0x09D1921Cu, 0xFE1DEB1Cu, 0xB129A73Eu);
    uvec4 t4 = uvec4(0xE88235F5u, 0x2EBB4484u, 0xE99C7026u, 0xB45F7E41u);
    uvec4 t5 = uvec4(0x3991D639u, 0x835339F4u, 0x9C845F8Bu, 0xBDF9283Bu);
    uvec4 t6 = uvec4(0x1FF897FFu, 0xDE05980Fu, 0xEF2F118Bu, 0x5A0A6D1Fu);
    uvec4 t7 = uvec4(0x6D367ECFu, 0x27CB09B7u, 0x4F463F66u, 0x9E5FEA2Du);
    uvec4 t8 = uvec4(0x7527BAC7u, 0xEBE5F17Bu, 0x3D0739F7u, 0x8A5292EAu);
    uvec4 t9 = uvec4(0x6BFB5FB1u, 0x1F8D5D08u, 0x56033046u, 0x00000000u);
    if ((start & 32u) != 0u) { t0 = t8; t1 = t9; }
    if ((start & 16u) != 0u) { t0 = t4; t1 = t5; t2 = t6; t3 = t7; t4 = t8; t5 = t9; }
    if ((start & 8u) != 0u) { t0 = t2; t1 = t3; t2 = t4; t3 = t5; }
    if ((start & 4u) != 0u) { t0 = t1; t1 = t2; t2 = t3; }
    if ((start & 2u) != 0u) {
        t0 = uvec4(t0.zw, t1.xy);
        t1 = uvec4(t1.zw, t2.xy);
    }
    bool odd = (start & 1u) != 0u;
    window = uint[7](odd ? t0.y : t0.x, odd ? t0.z : t0.y, odd ? t0.w : t0.z, odd ? t1.x : t0.w,
        odd ? t1.y : t1.x, odd ? t1.z : t1.y, odd ? t1.w : t1.z);
}

// Payne and Hanek: |x| is an integer of 53 bits times 2^e, and of its product with 2/pi only the bits from 2 down to
// 2^-126 matter, so seven words of 2/pi do, from a place that e decides. |x| >= 2^20.
dvec2 vx_reduce_huge(double x, out int quadrant) {
    uvec2 bits = unpackDouble2x32(x);
    uint significand_high = bits.y & 0xFFFFFu | 0x100000u;
    uint e = (bits.y >> 20 & 0x7FFu) - 1013u; // x = significand 2^(e - 62)
    uint window[7];
    vx_two_over_pi(e >> 5, window);
    uint shift = e & 31u;
    uint p0 = 0u, p1 = 0u, p2 = 0u, p3 = 0u, p4 = 0u; // the product, lowest word first; lower words fall out
    uint carry_low = 0u, carry_high = 0u;
    for (uint i = 0u; i < 7u; ++i) {
        uint word = window[6u - i];
        uint low_low, low_high, high_low, high_high, carry, carries;
        umulExtended(bits.x, word, low_high, low_low);
        umulExtended(significand_high, word, high_high, high_low);
        p0 = p1;
        p1 = p2;
        p2 = p3;
        p3 = p4;
        p4 = uaddCarry(low_low, carry_low, carries);
        carry_low = uaddCarry(carry_high, carries, carry);
        carry_high = high_high + carry;
        carry_low = uaddCarry(carry_low, low_high, carry);
        carry_high += carry;
        carry_low = uaddCarry(carry_low, high_low, carry);
        carry_high += carry;
    }
    uint down = 31u - shift;
    p4 = p4 << shift | p3 >> 1 >> down;
    p3 = p3 << shift | p2 >> 1 >> down;
    p2 = p2 << shift | p1 >> 1 >> down;
    p1 = p1 << shift | p0 >> 1 >> down;
    // Two bits of the quadrant, then the fraction: as a signed number, it lies in [-1/2, 1/2) once 1/2 rounds up.
    int top = int(p4 << 2 | p3 >> 30);
    quadrant = int(p4 >> 30) + (top < 0 ? 1 : 0);
    precise double w0 = double(top) * 2.3283064365386963e-10lf;
    precise double w1 = double(p3 << 2 | p2 >> 30) * 5.421010862427522e-20lf;
    precise double w2 = double(p2 << 2 | p1 >> 30) * 1.262177448353619e-29lf;
    precise double w3 = double(p1 << 2) * 2.938735877055719e-39lf;
    dvec2 fraction = vx_pair_add(vx_two_sum(w0, w1), vx_two_sum(w2, w3));
    dvec2 r = vx_pair_multiply(fraction, dvec2(1.5707963267948966lf, 6.123233995736766e-17lf));
    if (!vx_signbit(x)) return r;
    quadrant = -quadrant;
    return -r;
}

// sin and cos of a finite x in pairs, relative error below 2^-57: minimax polynomials in r^2.
void vx_pair_sin_cos(double x, out dvec2 sine, out dvec2 cosine) {
    int quadrant;
    dvec2 r;
    if (vx_absolute(x) < 1048576.0lf) r = vx_reduce_moderate(x, quadrant);
    else r = vx_reduce_huge(x, quadrant);
    dvec2 z = vx_pair_multiply(r, r);
    precise double sine_rest = -8.996244289838866e-18lf + z.x * (0.008333333333333323lf
        + z.x * (-0.00019841269841255123lf + z.x * (2.755731921421894e-06lf + z.x * (-2.5052104918553125e-08lf
        + z.x * (1.6058367445913096e-10lf + z.x * -7.57873512187854e-13lf)))));
    dvec2 cubic = vx_pair_multiply(vx_pair_multiply(vx_fast_two_sum(-0.16666666666666666lf, sine_rest), z), r);
    dvec2 s = vx_pair_add(r, cubic);
    precise double cosine_rest = -0.5lf * z.y + z.x * z.x * (0.041666666666666664lf + z.x * (-0.0013888888888888378lf
        + z.x * (2.480158730116489e-05lf + z.x * (-2.755731905198655e-07lf + z.x * (2.0876719767539495e-09lf
        + z.x * (-1.1466585917568964e-11lf + z.x * 4.5796039968082894e-14lf))))));
    precise double square_term = -0.5lf * z.x;
    dvec2 c = vx_pair_add(vx_fast_two_sum(1.0lf, square_term), cosine_rest);
    bool odd = (quadrant & 1) != 0;
    sine = odd ? c : s;
    cosine = odd ? s : c;
    if ((quadrant & 2) != 0) sine = -sine;
    if ((quadrant + 1 & 2) != 0) cosine = -cosine;
}

// Below 2^-27, x is the result of sin and tan to less than 0.2 ULP.
double vx_sin(double x) {
    if (!vx_is_finite(x)) return VX_NAN_DOUBLE;
    if (vx_absolute(x) < 7.450580596923828e-09lf) return x;
    dvec2 sine, cosine;
    vx_pair_sin_cos(x, sine, cosine);
    return sine.x;
}

double vx_cos(double x) {
    if (!vx_is_finite(x)) return VX_NAN_DOUBLE;
    dvec2 sine, cosine;
    vx_pair_sin_cos(x, sine, cosine);
    return cosine.x;
}

double vx_tan(double x) {
    if (!vx_is_finite(x)) return VX_NAN_DOUBLE;
    if (vx_absolute(x) < 7.450580596923828e-09lf) return x;
    dvec2 sine, cosine;
    vx_pair_sin_cos(x, sine, cosine);
    return vx_pair_divide(sine, cosine).x;
}

#endif
