// Solves A X = B in place from the factors of `linalg/ldl_factor.comp`, as LAPACK's sytrs and hetrs do: with `backward` the second
// half, with L^T or L^H. One workgroup for a matrix does some steps; `next` says where the next dispatch goes on.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include "lib/elimination.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Elements { T data[]; };
layout(buffer_reference, scalar) coherent buffer Solutions { T data[]; };
layout(buffer_reference, scalar) buffer Integers { int data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Elements a;
    Solutions b;
    Integers pivots;
    Integers next;
    int order, columns;
    int steps;
    uint hermitian, backward;
} arguments;

int base, of_b;

#define AT(I, J) arguments.a.data[base + (I) * arguments.order + (J)]
#define B(I, C) arguments.b.data[of_b + (I) * arguments.columns + (C)]

void meet() {
    groupMemoryBarrier();
    barrier();
}

T over(T a, T b) { return vx_quotient(a, b, vx_inverse(b)); }

void exchange(int first, int second, int column) {
    T kept = B(first, column);
    B(first, column) = B(second, column);
    B(second, column) = kept;
}

void main() {
    int matrix = int(gl_WorkGroupID.x), n = arguments.order;
    base = matrix * n * n;
    of_b = matrix * n * arguments.columns;
    bool hermitian = arguments.hermitian != 0u;
    int lane = int(gl_LocalInvocationIndex), lanes = int(gl_WorkGroupSize.x);
    int k = arguments.next.data[matrix];
    for (int step = 0; step < arguments.steps && k >= 0 && k < n; ++step) {
        // Pivots of values that no factorisation makes reach no other memory.
        int pivot = arguments.pivots.data[matrix * n + k];
        int other = clamp(abs(pivot) - 1, 0, n - 1);
        int width = pivot < 0 && (arguments.backward != 0u ? k > 0 : k < n - 1) ? 2 : 1;
        int first = arguments.backward != 0u ? k - width + 1 : k, last = first + width - 1;
        if (arguments.backward == 0u) {
            for (int c = lane; c < arguments.columns; c += lanes) exchange(last, other, c);
            meet();
            int rest = n - last - 1;
            for (int place = lane; place < rest * arguments.columns; place += lanes) {
                int i = last + 1 + place / arguments.columns, c = place % arguments.columns;
                T value = vx_add_product(-AT(i, first), B(first, c), B(i, c));
                B(i, c) = width == 2 ? vx_add_product(-AT(i, last), B(last, c), value) : value;
            }
            meet();
            for (int c = lane; c < arguments.columns; c += lanes) {
                if (width == 1) {
                    B(k, c) = over(B(k, c), AT(k, k));
                } else {
                    T across = AT(last, first), conjugated = vx_conjugate_if(across, hermitian);
                    T upper = over(AT(first, first), conjugated), lower = over(AT(last, last), across);
                    T p = over(B(first, c), conjugated), q = over(B(last, c), across);
                    T denominator = vx_add_product(upper, lower, T(0));
#ifdef COMPLEX_T
                    denominator.x -= VX_ONE;
#else
                    denominator -= VX_ONE;
#endif
                    B(first, c) = over(vx_add_product(lower, p, -q), denominator);
                    B(last, c) = over(vx_add_product(upper, q, -p), denominator);
                }
            }
        } else {
            for (int c = lane; c < arguments.columns; c += lanes) {
                T upper = B(first, c), lower = B(last, c);
                for (int i = last + 1; i < n; ++i) {
                    upper = vx_add_product(-vx_conjugate_if(AT(i, first), hermitian), B(i, c), upper);
                    lower = vx_add_product(-vx_conjugate_if(AT(i, last), hermitian), B(i, c), lower);
                }
                B(first, c) = upper;
                if (width == 2) B(last, c) = lower;
                exchange(last, other, c);
            }
        }
        k += arguments.backward != 0u ? -width : width;
        meet();
    }
    if (lane == 0) arguments.next.data[matrix] = k;
}
