#ifndef LIB_PRODUCT
#define LIB_PRODUCT

// sum + a * b, as sums of products take it. Fused where the device has it: a plain a * b + sum is left unfused under the
// float controls that all kernels ask for, at half the speed. Where fma is not fused (llvmpipe), the last bits of such
// sums differ from those of other devices.
#if defined(COMPLEX)
T vx_multiply_add(T a, T b, T sum) {
    return T(fma(a.x, b.x, fma(-a.y, b.y, sum.x)), fma(a.x, b.y, fma(a.y, b.x, sum.y)));
}
T vx_conjugated(T z) { return T(z.x, -z.y); }
#elif defined(BITS)
T vx_multiply_add(T a, T b, T sum) { return a * b + sum; }
#else
T vx_multiply_add(T a, T b, T sum) { return fma(a, b, sum); }
#endif

#endif
