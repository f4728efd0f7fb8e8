// Error-free transformations of float32 (Dekker 1971; Muller et al., Handbook of Floating-Point Arithmetic, chapter 4).
// A pair (x, y) stands for the unevaluated sum x + y. They hold where no operand or result is subnormal or overflows.
#ifndef LIB_FLOAT32_ERROR_FREE
#define LIB_FLOAT32_ERROR_FREE

// sum + a * b for a product that is exact (few bits, or a power of 2): the same whether the device fuses it or not. Some fuse in one
// instruction, which takes subnormal numbers for zero, so none may matter.
float vx_add_exact_product(float sum, float a, float b) {
    precise float result = fma(a, b, sum);
    return result;
}

// a + b exactly, for |a| >= |b| or a == 0 (Dekker's Fast2Sum).
vec2 vx_fast_two_sum(float a, float b) {
    precise float sum = a + b;
    precise float error = b - (sum - a);
    return vec2(sum, error);
}

// a + b exactly (Knuth's 2Sum).
vec2 vx_two_sum(float a, float b) {
    precise float sum = a + b;
    precise float b_part = sum - a;
    precise float a_part = sum - b_part;
    precise float error = (a - a_part) + (b - b_part);
    return vec2(sum, error);
}

// sum + a * b and its error exactly, for an exact product and |sum| >= |a * b| or sum == 0.
vec2 vx_fast_two_sum_of_product(float sum, float a, float b) {
    float total = vx_add_exact_product(sum, a, b);
    precise float moved = total - sum;
    return vec2(total, vx_add_exact_product(-moved, a, b));
}

// a as two halves of 12 bits whose products are exact. Truncating the bits is cheaper than Veltkamp's multiplication and cannot overflow.
vec2 vx_split(float a) {
    precise float high = uintBitsToFloat(floatBitsToUint(a) & 0xFFFFF000u);
    precise float low = a - high;
    return vec2(high, low);
}

// a * b exactly (Dekker's product): the one error-free product, used instead of fma().
vec2 vx_two_product(float a, float b) {
    vec2 p = vx_split(a);
    vec2 q = vx_split(b);
    precise float product = a * b;
    precise float error = (((p.x * q.x - product) + p.x * q.y) + p.y * q.x) + p.y * q.y;
    return vec2(product, error);
}

// a * a exactly, as an exact high part of 24 bits and a rounded low part (relative error 2^-36 of the square).
vec2 vx_split_square(float a) {
    vec2 p = vx_split(a);
    precise float high = p.x * p.x;
    precise float low = p.y * (a + p.x);
    return vec2(high, low);
}

// (a.x + a.y) * (b.x + b.y), relative error below 2^-44.
vec2 vx_pair_multiply(vec2 a, vec2 b) {
    vec2 p = vx_two_product(a.x, b.x);
    precise float low = p.y + (a.x * b.y + a.y * b.x);
    return vx_fast_two_sum(p.x, low);
}

// (a.x + a.y) + (b.x + b.y) for |a.x| >= |b.x|.
vec2 vx_pair_add(vec2 a, vec2 b) {
    vec2 s = vx_fast_two_sum(a.x, b.x);
    precise float low = s.y + (a.y + b.y);
    return vx_fast_two_sum(s.x, low);
}

// 1 / a within 1.5 ULP for normal a with |a| < 2^125, of multiplications and subtractions alone, so the same bits everywhere:
// a seed from the bits (12 % off), then two third-order steps y + y (e + e^2), e = 1 - a y.
float vx_reciprocal_approximation(float a) {
    precise float y = uintBitsToFloat(0x7EF311C7u - floatBitsToUint(a));
    precise float e = 1.0 - a * y;
    y = y + y * (e + e * e);
    e = 1.0 - a * y;
    y = y + y * (e + e * e);
    return y;
}

// (a.x + a.y) / (b.x + b.y) as a pair, relative error below 2^-42 where |a.y| and |b.y| are at most an ULP of a.x and b.x.
vec2 vx_pair_divide(vec2 a, vec2 b) {
    precise float reciprocal = vx_reciprocal_approximation(b.x);
    precise float quotient = a.x * reciprocal;
    vec2 p = vx_two_product(quotient, b.x);
    precise float remainder = ((a.x - p.x) - p.y) + (a.y - quotient * b.y);
    precise float correction = remainder * reciprocal;
    return vx_fast_two_sum(quotient, correction);
}

// About sqrt(a) and 1 / sqrt(a): Newton's iteration from a seed of the bits (3 % off), so the same bits everywhere.
vec2 vx_root_approximation(float a) {
    precise float y = uintBitsToFloat(0x5F3759DFu - (floatBitsToUint(a) >> 1));
    precise float half_a = 0.5 * a;
    y = y * (1.5 - half_a * y * y);
    y = y * (1.5 - half_a * y * y);
    y = y * (1.5 - half_a * y * y);
    precise float root = a * y;
    return vec2(root, y);
}

// sqrt(a.x + a.y) as a pair from these and the square of the root.
vec2 vx_pair_root(vec2 a, vec2 root, vec2 square) {
    precise float remainder = ((a.x - square.x) - square.y) + a.y;
    precise float correction = 0.5 * root.y * remainder;
    return vx_fast_two_sum(root.x, correction);
}

// sqrt(a.x + a.y) as a pair, relative error below 2^-42, for a.x zero or normal in [2^-100, 2^100].
vec2 vx_pair_sqrt(vec2 a) {
    vec2 root = vx_root_approximation(a.x);
    return vx_pair_root(a, root, vx_two_product(root.x, root.x));
}

#endif
