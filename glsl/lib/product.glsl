#ifndef LIB_PRODUCT
#define LIB_PRODUCT

// The product of two elements as sums of products take it. Without `precise`: a driver may fuse it with the addition
// that follows, so unlike elementwise results these may differ in the last bits from one driver to another.
#ifdef COMPLEX
T vx_product(T a, T b) { return T(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
T vx_conjugated(T z) { return T(z.x, -z.y); }
#else
T vx_product(T a, T b) { return a * b; }
#endif

#endif
