#ifndef LIB_PRODUCT
#define LIB_PRODUCT

// sum + a * b, as sums of products take it, for elements and (where the template has PACKs) packs of them. Fused where
// the device has it: a plain a * b + sum is left unfused under the float controls that all kernels ask for, at half the
// speed. Where fma is not fused (llvmpipe), the last bits of such sums differ from those of other devices.
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

#if defined(PACK) && LANES > 1
#ifdef BITS
PACK vx_multiply_add(T a, PACK b, PACK sum) { return a * b + sum; }
#else
PACK vx_multiply_add(T a, PACK b, PACK sum) { return fma(PACK(a), b, sum); }
#endif
#endif

#endif
