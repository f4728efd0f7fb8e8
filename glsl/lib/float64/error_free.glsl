#ifndef LIB_FLOAT64_ERROR_FREE
#define LIB_FLOAT64_ERROR_FREE

// Error-free transformations, and numbers as unevaluated sums of two doubles ("pairs": x holds the rounded value,
// y the rest, about 106 bits together). Sources: Dekker (Numer. Math. 18, 1971), Knuth (TAOCP 2), Joldes, Muller
// and Popescu (ACM TOMS 44, 2017), Muller et al. (Handbook of Floating-Point Arithmetic).
// Only + - * and bits are used, never a hardware division or square root (some are off by several ULP): results
// are the same on every device that rounds + - * to nearest and keeps subnormals.

// a + b = x + y exactly.
dvec2 vx_two_sum(double a, double b) {
    precise double sum = a + b;
    precise double b_seen = sum - a;
    precise double rest = (a - (sum - b_seen)) + (b - b_seen);
    return dvec2(sum, rest);
}

// The same for |a| >= |b| or a = 0.
dvec2 vx_fast_two_sum(double a, double b) {
    precise double sum = a + b;
    precise double rest = b - (sum - a);
    return dvec2(sum, rest);
}

// a = x + y, of 26 bits each (Veltkamp), for |a| < 2^996.
dvec2 vx_split(double a) {
    precise double spread = 134217729.0lf * a;
    precise double high = spread - (spread - a);
    precise double low = a - high;
    return dvec2(high, low);
}

// a b = x + y exactly (Dekker), where neither the split overflows nor the rest underflows.
dvec2 vx_two_product(double a, double b) {
    precise double product = a * b;
    dvec2 s = vx_split(a);
    dvec2 t = vx_split(b);
    precise double rest = ((s.x * t.x - product) + s.x * t.y + s.y * t.x) + s.y * t.y;
    return dvec2(product, rest);
}

// Relative error below 2^-104 where a and b have one sign; below 2^-104 (|a| + |b|) otherwise.
dvec2 vx_pair_add(dvec2 a, dvec2 b) {
    dvec2 high = vx_two_sum(a.x, b.x);
    dvec2 low = vx_two_sum(a.y, b.y);
    precise double carry = high.y + low.x;
    high = vx_fast_two_sum(high.x, carry);
    carry = high.y + low.y;
    return vx_fast_two_sum(high.x, carry);
}

dvec2 vx_pair_add(dvec2 a, double b) {
    dvec2 high = vx_two_sum(a.x, b);
    precise double carry = high.y + a.y;
    return vx_fast_two_sum(high.x, carry);
}

// Relative error below 2^-101.
dvec2 vx_pair_multiply(dvec2 a, dvec2 b) {
    dvec2 product = vx_two_product(a.x, b.x);
    precise double rest = product.y + (a.x * b.y + a.y * b.x);
    return vx_fast_two_sum(product.x, rest);
}

dvec2 vx_pair_multiply(dvec2 a, double b) {
    dvec2 product = vx_two_product(a.x, b);
    precise double rest = product.y + a.y * b;
    return vx_fast_two_sum(product.x, rest);
}

// 1 / d to 2 ULP, for 2^-1000 < |d| < 2^1000: a linear guess from the bits (5 % off), two cubic steps, one of Newton.
double vx_reciprocal_approximation(double d) {
    precise double y = packDouble2x32(uvec2(0u, 0x7FDE6238u - unpackDouble2x32(d).y));
    precise double error = 1.0lf - d * y;
    y = y + y * (error + error * error);
    error = 1.0lf - d * y;
    y = y + y * (error + error * error);
    error = 1.0lf - d * y;
    y = y + y * error;
    return y;
}

// 1 / sqrt(d) to 2 ULP, for 2^-1000 < d < 2^1000, in the same way.
double vx_reciprocal_sqrt_approximation(double d) {
    precise double y = packDouble2x32(uvec2(0u, 0x5FE6EB50u - (unpackDouble2x32(d).y >> 1)));
    precise double error = 1.0lf - d * y * y;
    y = y + y * error * (0.5lf + 0.375lf * error);
    error = 1.0lf - d * y * y;
    y = y + y * error * (0.5lf + 0.375lf * error);
    error = 1.0lf - d * y * y;
    y = y + y * error * 0.5lf;
    return y;
}

// a - q b, exact where q is within an ULP of a / b.
double vx_division_residual(double a, double q, double b) {
    dvec2 product = vx_two_product(q, b);
    precise double residual = (a - product.x) - product.y;
    return residual;
}

// Relative error below 2^-100, for operands and quotient far from overflow and underflow.
dvec2 vx_pair_divide(dvec2 a, dvec2 b) {
    double y = vx_reciprocal_approximation(b.x);
    precise double quotient = a.x * y;
    precise double residual = vx_division_residual(a.x, quotient, b.x) + (a.y - quotient * b.y);
    precise double rest = residual * y;
    return vx_fast_two_sum(quotient, rest);
}

// Relative error below 2^-100, for 2^-900 < a.x < 2^900.
dvec2 vx_pair_sqrt(dvec2 a) {
    double y = vx_reciprocal_sqrt_approximation(a.x);
    precise double root = a.x * y;
    precise double residual = vx_division_residual(a.x, root, root) + a.y;
    precise double rest = residual * (0.5lf * y);
    return vx_fast_two_sum(root, rest);
}

#endif
