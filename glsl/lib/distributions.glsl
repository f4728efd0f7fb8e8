// Random numbers of a distribution from the words of a block: four float32, or two float64.
#ifndef LIB_DISTRIBUTIONS
#define LIB_DISTRIBUTIONS

#ifdef DOUBLE
#include "lib/float64/power.glsl"
#include "lib/float64/logarithmic.glsl"
#include "lib/float64/trigonometric.glsl"
#define SAMPLES dvec2
#define SAMPLES_OF_BLOCK 2u

// A multiple of 2^-53 in [0, 1).
double vx_unit(uvec2 words) {
    precise double whole = double(words.x >> 5) * 67108864.0lf + double(words.y >> 6);
    precise double unit = whole * 1.1102230246251565e-16lf;
    return unit;
}

// In (0, 1], whose logarithm is finite.
double vx_positive_unit(uvec2 words) {
    precise double unit = vx_unit(words) + 1.1102230246251565e-16lf;
    return unit;
}

// The same, and a sign from a bit that it leaves.
double vx_signed_unit(uvec2 words, out bool negative) {
    negative = (words.y & 1u) != 0u;
    return vx_positive_unit(words);
}

// In (0, 2 pi), from 52 bits and a half.
double vx_angle(uvec2 words) {
    precise double whole = double(words.x >> 6) * 67108864.0lf + double(words.y >> 6) + 0.5lf;
    precise double angle = whole * 1.3951473992034527e-15lf;
    return angle;
}

double vx_negative_logarithm(double x) {
    precise double result = 0.0lf - vx_log(x);
    return result;
}

// Two independent numbers (Box and Muller, Annals of Mathematical Statistics 29, 1958).
dvec2 vx_normal_pair(uvec2 first, uvec2 second) {
    precise double radius = vx_sqrt(2.0lf * vx_negative_logarithm(vx_positive_unit(first)));
    double angle = vx_angle(second);
    precise dvec2 pair = radius * dvec2(vx_cos(angle), vx_sin(angle));
    return pair;
}

#define EACH_SAMPLE(FUNCTION, words) dvec2(FUNCTION((words).xy), FUNCTION((words).zw))
dvec2 vx_normals(uvec4 words) { return vx_normal_pair(words.xy, words.zw); }

#else
#include "lib/float32/power.glsl"
#include "lib/float32/logarithmic.glsl"
#include "lib/float32/trigonometric.glsl"
#define SAMPLES vec4
#define SAMPLES_OF_BLOCK 4u

// A multiple of 2^-24 in [0, 1).
float vx_unit(uint word) {
    precise float unit = float(word >> 8) * 5.9604644775390625e-8;
    return unit;
}

// In (0, 1], whose logarithm is finite: from all 32 bits, so that small ones are as dense as they should be.
float vx_positive_unit(uint word) {
    precise float low = float((word & 0xFFu) + 1u) * 2.3283064365386963e-10;
    precise float unit = vx_unit(word) + low;
    return unit;
}

// The same from 31 bits, and a sign from the last.
float vx_signed_unit(uint word, out bool negative) {
    negative = (word & 1u) != 0u;
    return vx_positive_unit(word | 1u);
}

// In (0, 2 pi), from 23 bits and a half.
float vx_angle(uint word) {
    precise float angle = float(word >> 8 | 1u) * 3.7450704e-7;
    return angle;
}

float vx_negative_logarithm(float x) {
    precise float result = 0.0 - vx_log(x);
    return result;
}

// Two independent numbers (Box and Muller, Annals of Mathematical Statistics 29, 1958).
vec2 vx_normal_pair(uint first, uint second) {
    precise float radius = vx_sqrt(2.0 * vx_negative_logarithm(vx_positive_unit(first)));
    float angle = vx_angle(second);
    precise vec2 pair = radius * vec2(vx_cos(angle), vx_sin(angle));
    return pair;
}

#define EACH_SAMPLE(FUNCTION, words) \
    vec4(FUNCTION((words).x), FUNCTION((words).y), FUNCTION((words).z), FUNCTION((words).w))
vec4 vx_normals(uvec4 words) { return vec4(vx_normal_pair(words.x, words.y), vx_normal_pair(words.z, words.w)); }

#endif

SAMPLES vx_uniforms(uvec4 words) { return EACH_SAMPLE(vx_unit, words); }

#define VX_EXPONENTIAL(word) vx_negative_logarithm(vx_positive_unit(word))
SAMPLES vx_exponentials(uvec4 words) { return EACH_SAMPLE(VX_EXPONENTIAL, words); }

#endif
