// log(exp(a) + exp(b)) for float32. Where the result is near 0 while a and b are not, up to 50 bits cancel: those inputs, found by the
// size of the ordinary result, are computed again in fixed point, a number in [0, 1) being 96 bits with the most significant word first.
#ifndef LIB_FLOAT32_LOGADDEXP
#define LIB_FLOAT32_LOGADDEXP
#include "lib/float32/bits.glsl"
#include "lib/float32/error_free.glsl"
#include "lib/float32/exponential.glsl"
#include "lib/float32/logarithmic.glsl"

uvec3 vx_fixed_subtract(uvec3 a, uvec3 b) {
    uint low_borrow, middle_borrow, second_borrow;
    uint low = usubBorrow(a.z, b.z, low_borrow);
    uint middle = usubBorrow(a.y, b.y, middle_borrow);
    middle = usubBorrow(middle, low_borrow, second_borrow);
    return uvec3(a.x - b.x - middle_borrow - second_borrow, middle, low);
}

uvec3 vx_fixed_add(uvec3 a, uvec3 b) {
    return vx_fixed_subtract(a, vx_fixed_subtract(uvec3(0u, 0u, 0u), b));
}

// a * b, less at most 5 units of 2^-96.
uvec3 vx_fixed_multiply(uvec3 a, uvec3 b) {
    uint high, low;
    umulExtended(a.x, b.x, high, low);
    uvec3 product = uvec3(high, low, 0u);
    umulExtended(a.x, b.y, high, low);
    product = vx_fixed_add(product, uvec3(0u, high, low));
    umulExtended(a.y, b.x, high, low);
    product = vx_fixed_add(product, uvec3(0u, high, low));
    umulExtended(a.y, b.y, high, low);
    product = vx_fixed_add(product, uvec3(0u, 0u, high));
    umulExtended(a.x, b.z, high, low);
    product = vx_fixed_add(product, uvec3(0u, 0u, high));
    umulExtended(a.z, b.x, high, low);
    return vx_fixed_add(product, uvec3(0u, 0u, high));
}

// (remainder 2^32 + word) / n as (quotient, remainder), for remainder < n < 2^16.
uvec2 vx_fixed_divide_word(uint remainder, uint word, uint n) {
    uint high = (remainder << 16) | (word >> 16);
    uint low = ((high % n) << 16) | (word & 0xFFFFu);
    return uvec2(((high / n) << 16) | (low / n), low % n);
}

uvec3 vx_fixed_divide(uvec3 a, uint n) {
    uvec2 high = vx_fixed_divide_word(0u, a.x, n);
    uvec2 middle = vx_fixed_divide_word(high.y, a.y, n);
    uvec2 low = vx_fixed_divide_word(middle.y, a.z, n);
    return uvec3(high.x, middle.x, low.x);
}

uvec3 vx_fixed_shift_right(uvec3 a, int places) {
    for (int left = places; left > 0; left -= 31) {
        int step = min(left, 31);
        a = uvec3(a.x >> step, (a.y >> step) | (a.x << 1 << (31 - step)), (a.z >> step) | (a.y << 1 << (31 - step)));
    }
    return a;
}

// t/n (1 - t/(n+1) (1 - t/(n+2) (...))) for t < 0.7, error 2^-88: 1 - exp(-t) for n = 1.
uvec3 vx_fixed_series(uvec3 t, uint n) {
    uvec3 sum = uvec3(0u, 0u, 0u);
    for (uint k = 26u; k >= n; k -= 1u) {
        sum = vx_fixed_divide(vx_fixed_subtract(t, vx_fixed_multiply(t, sum)), k);
    }
    return sum;
}

// log(exp(a) + exp(b)) for -0.694 < a < 0, b <= a and a result much smaller than a. With A = |a| = alpha 2^-s, 1/2 <= alpha < 1, and
// |b| = k log(2) + t it is log(1 + E), 2^s E = 2^(s-k) exp(-t) - alpha (1 - A/2 (1 - A/3 ...)), and s - k is -1, 0 or 1.
float vx_logaddexp_cancelled(float a, float b) {
    ivec2 parts = vx_decompose(vx_magnitude_bits(a));
    int s = 126 - parts.y;
    uvec3 alpha = uvec3(uint(parts.x) << 8, 0u, 0u);
    uvec3 negative = vx_fixed_subtract(alpha, vx_fixed_multiply(alpha, vx_fixed_series(vx_fixed_shift_right(alpha, s), 2u)));

    precise float magnitude = -b;
    precise float whole = magnitude * 1.44269502 - 0.001;
    uint k = uint(max(int(whole), 0));
    uint low_high, low_low, middle_high, middle_low;
    umulExtended(k, 0xC9E3B398u, low_high, low_low);
    umulExtended(k, 0xD1CF79ABu, middle_high, middle_low);
    uvec3 multiple = vx_fixed_add(uvec3(k * 0xB17217F7u + middle_high, middle_low, low_low), uvec3(0u, low_high, 0u));
    // |b| is at least 0.69 here, a multiple of 2^-24; its whole part falls off.
    precise float scaled = magnitude * 16777216.0;
    uvec3 t = vx_fixed_subtract(uvec3(uint(scaled) << 8, 0u, 0u), multiple);
    uvec3 series = vx_fixed_series(t, 1u);

    // 2^(s - 2) E: 2^(s - 2 - k) less that part of the series, less the negative part.
    int places = int(k) + 2 - s;
    uvec3 positive = vx_fixed_subtract(uvec3(1u << (32 - places), 0u, 0u), vx_fixed_shift_right(series, places));
    uvec3 difference = vx_fixed_subtract(positive, vx_fixed_shift_right(negative, 2));
    uint sign = difference.x & 0x80000000u;
    if (sign != 0u) {
        difference = vx_fixed_subtract(uvec3(0u, 0u, 0u), difference);
    }
    int exponent = 1 - s;
    for (int i = 0; i < 4 && difference.x < 0x80000000u; i += 1) {
        int shift = difference.x == 0u ? 31 : 31 - findMSB(difference.x);
        difference.x = (difference.x << shift) | (difference.y >> 1 >> (31 - shift));
        difference.y = (difference.y << shift) | (difference.z >> 1 >> (31 - shift));
        difference.z <<= shift;
        exponent -= shift;
    }
    precise float high = float(difference.x >> 8);
    precise float low = float(((difference.x & 0xFFu) << 16) | (difference.y >> 16)) * 5.96046448e-8;
    exponent -= 23;
    if (exponent < -60) {
        precise float sum = high + low;
        return vx_flip_sign(vx_scale(sum, exponent), sign);
    }
    precise float unit = vx_flip_sign(vx_power_of_two(exponent), sign);
    precise vec2 excess = vec2(high * unit, low * unit);
    vec2 logarithm = vx_log1p_of_pair(excess);
    precise float result = logarithm.x + logarithm.y;
    return result;
}

// 0.85 ULP on samples, also where the result cancels.
float vx_logaddexp(float a, float b) {
    if (vx_is_nan(a) || vx_is_nan(b)) {
        return VX_FLOAT32_NAN;
    }
    bool ordered = vx_ordered_bits(a) >= vx_ordered_bits(b);
    precise float larger = ordered ? a : b;
    precise float smaller = ordered ? b : a;
    precise float gap = smaller - larger;
    if (vx_is_infinite(larger) || vx_is_infinite(smaller) || gap < -150.0) {
        return vx_is_zero(larger) ? 0.0 : larger;
    }
    vec2 distance = vx_two_sum(smaller, -larger);
    vec3 r = vx_exp_reduce(distance.x);
    precise float r_error = r.y + distance.y;
    vec2 reduced = vx_fast_two_sum(r.x, r_error);
    vec2 sum = vx_fast_two_sum(1.0, reduced.x);
    precise float tail = sum.y + vx_exp_tail(reduced.x, reduced.y);
    vec2 power = vx_fast_two_sum(sum.x, tail);
    precise float result;
    if (gap < -40.0) {
        // Far from 0 the smaller does not count; near it, scaled up by bits to keep away from subnormals.
        if (vx_magnitude_bits(larger) > 0x35800000u) {
            return larger;
        }
        int up = vx_magnitude_bits(larger) < 0x00800000u ? 76 : 100;
        precise float large_part = vx_scale(vx_scale_up_subnormal(larger), up);
        vec2 total = vx_two_sum(large_part, vx_scale(power.x, vx_exp_exponent(r.z) + 100));
        precise float scaled = total.x + (total.y + vx_scale(power.y, vx_exp_exponent(r.z) + 100));
        result = vx_scale(scaled, -100);
    } else {
        precise float scale = vx_power_of_two(vx_exp_exponent(r.z));
        precise vec2 ratio = vec2(power.x * scale, power.y * scale);
        vec2 logarithm = vx_log1p_of_pair(ratio);
        vec2 total = vx_two_sum(larger, logarithm.x);
        result = total.x + (total.y + logarithm.y);
    }
    // Below 2^-123 an ULP is large enough for the ordinary result. A quarter of the larger has an exponent less by 2.
    uint larger_bits = vx_magnitude_bits(larger);
    bool cancelled = vx_sign_bits(larger) != 0u && larger_bits >= 0x02000000u && larger_bits < 0x3F31A000u
        && vx_magnitude_bits(result) < larger_bits - 0x01000000u;
    return cancelled ? vx_logaddexp_cancelled(larger, smaller) : result;
}

#endif
