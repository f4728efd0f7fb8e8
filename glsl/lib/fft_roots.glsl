#ifndef LIB_FFT_ROOTS
#define LIB_FFT_ROOTS

// Roots of unity for the transforms, in the precision of REAL.
#ifdef DOUBLE
#include "lib/float64/trigonometric.glsl"
#define VX_QUARTER_PI dvec2(0.7853981633974483lf, 3.061616997868383e-17lf)
#else
#include "lib/float32/trigonometric.glsl"
#define VX_QUARTER_PI vec2(0.785398185, -2.18556941e-8)
#endif

// An integer below 2^31 as an exact pair.
COMPLEX vx_pair_of_integer(uint value) {
#ifdef DOUBLE
    return COMPLEX(REAL(value), REAL(0.0));
#else
    float high = float(value);
    return COMPLEX(high, float(int(value - uint(high))));
#endif
}

// exp(-2 pi i k / n) for 0 <= k < n < 2^31: integers find the octant, and the angle within it, at most pi / 4, is a pair.
COMPLEX vx_root(uint k, uint n) {
    uint octant = 0u;
    for (int bit = 0; bit < 3; ++bit) {
        k *= 2u;
        octant *= 2u;
        if (k >= n) {
            k -= n;
            ++octant;
        }
    }
    if ((octant & 1u) != 0u) k = n - k;
    COMPLEX angle = vx_pair_multiply(vx_pair_divide(vx_pair_of_integer(k), vx_pair_of_integer(n)), VX_QUARTER_PI);
#ifdef DOUBLE
    dvec2 sine_pair, cosine_pair;
    vx_pair_sin_cos(angle.x, sine_pair, cosine_pair);
    precise double sine = sine_pair.x + (sine_pair.y + angle.y * cosine_pair.x);
    precise double cosine = cosine_pair.x + (cosine_pair.y - angle.y * sine_pair.x);
#else
    vec2 sine_pair = vx_sin_reduced(angle);
    vec2 cosine_pair = vx_cos_reduced(angle);
    precise float sine = sine_pair.x + sine_pair.y;
    precise float cosine = cosine_pair.x + cosine_pair.y;
#endif
    COMPLEX root = (octant + 1u & 2u) != 0u ? COMPLEX(sine, cosine) : COMPLEX(cosine, sine);
    if ((octant + 2u & 4u) != 0u) root.x = -root.x;
    if ((octant & 4u) == 0u) root.y = -root.y;
    return root;
}

#endif
