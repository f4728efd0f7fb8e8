// Factorisation A = L D L^T of symmetric matrices, or A = L D L^H of Hermitian ones, with pivots of one or two rows, in the lower
// triangle and in place, as LAPACK's sytrf and hetrf leave it (J. R. Bunch, L. Kaufman, "Some stable methods for calculating
// inertia and solving symmetric linear systems", Mathematics of Computation 31, 1977). One workgroup for a matrix does some
// steps; `next` says where the next dispatch goes on.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#include "lib/elimination.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) coherent buffer Elements { T data[]; };
layout(buffer_reference, scalar) buffer Integers { int data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Elements a;
    Integers pivots;  // LAPACK's: the row exchanged, from 1 on, negative for both rows of a pivot of two
    Integers status;  // 1 + the first pivot that is 0, or 0
    Integers next;
    int order;
    int steps;
    uint hermitian;
} arguments;

const REAL ALPHA = REAL(0.6403882032022076lf);  // (1 + sqrt(17)) / 8

shared REAL sizes[gl_WorkGroupSize.x];
shared int places[gl_WorkGroupSize.x];

int base, order;
bool hermitian;

#define AT(I, J) arguments.a.data[base + (I) * order + (J)]

void meet() {
    groupMemoryBarrier();
    barrier();
}

T times(T a, T b) { return vx_add_product(a, b, T(0)); }

T real_if_hermitian(T value) {
#ifdef COMPLEX_T
    return hermitian ? T(value.x, VX_ZERO) : value;
#else
    return value;
#endif
}

T over(T a, T b) { return vx_quotient(a, b, vx_inverse(b)); }

// Element (i, j) of the whole symmetric matrix, as far as its size goes.
REAL size_at(int i, int j) { return vx_size(i < j ? AT(j, i) : i == j ? real_if_hermitian(AT(i, i)) : AT(i, j)); }

// The largest off-diagonal element of a row from column `first` on, and where: of equal ones the first.
REAL largest(int row, int first, out int place) {
    int lane = int(gl_LocalInvocationIndex), lanes = int(gl_WorkGroupSize.x);
    REAL best = VX_ZERO;
    place = -1;
    for (int j = first + lane; j < order; j += lanes) {
        REAL size = j == row ? VX_ZERO : size_at(row, j);
        if (size > best) {
            best = size;
            place = j;
        }
    }
    sizes[lane] = best;
    places[lane] = place;
    barrier();
    best = VX_ZERO;
    place = -1;
    for (int k = 0; k < lanes; ++k) {
        if (sizes[k] > best || (sizes[k] == best && places[k] >= 0 && places[k] < place)) {
            best = sizes[k];
            place = places[k];
        }
    }
    barrier();
    return best;
}

void exchange(int i, int j, int other_i, int other_j, bool conjugated) {
    T first = AT(i, j), second = AT(other_i, other_j);
    AT(i, j) = vx_conjugate_if(second, conjugated);
    AT(other_i, other_j) = vx_conjugate_if(first, conjugated);
}

// Rows and columns `first` and `second` change places in what is left from column k on.
void exchange_rows(int k, int first, int second, int width) {
    int lane = int(gl_LocalInvocationIndex), lanes = int(gl_WorkGroupSize.x);
    for (int i = second + 1 + lane; i < order; i += lanes) exchange(i, first, i, second, false);
    for (int j = first + 1 + lane; j < second; j += lanes) exchange(j, first, second, j, hermitian);
    if (lane == 0) {
        AT(second, first) = vx_conjugate_if(AT(second, first), hermitian);
        exchange(first, first, second, second, false);
        if (width == 2) exchange(k + 1, k, second, k, false);
    }
}

// What a pivot of two rows makes of the elements p and q of its columns.
void divided(T p, T q, T upper, T across, T lower, out T first, out T second) {
    // The inverse of the pivot, scaled by `across` so that nothing overflows.
    T other = vx_conjugate_if(across, hermitian);
    T d11 = over(lower, across), d22 = over(upper, other);
    T factor = times(d11, d22);
#ifdef COMPLEX_T
    factor.x -= VX_ONE;
#else
    factor -= VX_ONE;
#endif
    first = over(over(vx_add_product(d11, p, -q), other), factor);
    second = over(over(vx_add_product(d22, q, -p), across), factor);
}

void main() {
    base = int(gl_WorkGroupID.x) * arguments.order * arguments.order;
    order = arguments.order;
    hermitian = arguments.hermitian != 0u;
    int lane = int(gl_LocalInvocationIndex), lanes = int(gl_WorkGroupSize.x), of_matrix = int(gl_WorkGroupID.x);
    int k = arguments.next.data[of_matrix];
    for (int step = 0; step < arguments.steps && k < order; ++step) {
        int row, unused, pivot = k, width = 1;
        REAL here = size_at(k, k), column = largest(k, k, row);
        bool nothing = !(here > VX_ZERO || column > VX_ZERO) || here != here;
        if (!nothing && here < ALPHA * column) {
            REAL widest = largest(row, k, unused);
            if (here < ALPHA * column * (column / widest)) {
                pivot = row;
                if (!(size_at(row, row) >= ALPHA * widest)) width = 2;
            }
        }
        meet();
        int last = k + width - 1;
        if (pivot != last) exchange_rows(k, last, pivot, width);
        meet();
        T upper = real_if_hermitian(AT(k, k)), lower = real_if_hermitian(AT(last, last)), across = AT(last, k);
        if (nothing) {
            if (lane == 0 && arguments.status.data[of_matrix] == 0) arguments.status.data[of_matrix] = k + 1;
        } else {
            for (int i = last + 1 + lane; i < order; i += lanes) {
                T p = AT(i, k), q = AT(i, last), first, second = T(0);
                if (width == 1) first = over(p, upper);
                else divided(p, q, upper, across, lower, first, second);
                for (int block = last + 1; block <= i; block += 4) {
                    [[unroll]] for (int k4 = 0; k4 < 4; ++k4) {
                        int j = block + k4;
                        if (j > i) break;
                        T value = vx_add_product(-first, vx_conjugate_if(AT(j, k), hermitian), AT(i, j));
                        if (width == 2) value = vx_add_product(-second, vx_conjugate_if(AT(j, last), hermitian), value);
                        AT(i, j) = i == j ? real_if_hermitian(value) : value;
                    }
                }
            }
        }
        meet();
        for (int i = last + 1 + lane; i < order && !nothing; i += lanes) {
            T p = AT(i, k), q = AT(i, last), first, second = T(0);
            if (width == 1) first = over(p, upper);
            else divided(p, q, upper, across, lower, first, second);
            AT(i, k) = first;
            if (width == 2) AT(i, last) = second;
        }
        if (lane == 0) {
            AT(k, k) = upper;
            AT(last, last) = lower;
            for (int i = k; i <= last; ++i) arguments.pivots.data[of_matrix * order + i] = width == 1 ? pivot + 1 : -(pivot + 1);
        }
        k += width;
        meet();
    }
    if (lane == 0) arguments.next.data[of_matrix] = k;
}
