// Householder QR of a panel: up to COLUMNS columns, from the diagonal down, of each matrix of a stack (LAPACK's xGEQR2 and
// xLARFT). One workgroup works on a matrix; invocation c + COLUMNS * lane owns every lanes-th row of the panel's column c.
//
// Column j of the panel stays as it is until the end, x, for it is only multiplied by a number to become v. So one pass gives
// all inner products of x with the other columns: its norm, what is to be taken off the columns on its right, and V^H v
// of the columns on its left, which T needs: H_1 H_2 ... = I - V T V^H.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/householder.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint COLUMNS = 32u;

layout(buffer_reference, scalar) buffer Elements { T data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 a;            // (batch, m, n); R is left in its upper triangle
    uvec2 v;            // (batch, m, count): V, of which this panel's rows from the diagonal down are written
    uvec2 tau;          // (batch, count)
    uvec2 t;            // (batch, COLUMNS, COLUMNS): T of this panel
    uint batch, m, n, count;
    uint first;         // the panel's first row and column
    uint width;         // its columns
} arguments;

shared T exchange[gl_WorkGroupSize.x];
shared T products[COLUMNS];
shared T left[COLUMNS];         // V^H v
shared T factors[COLUMNS];      // v = factor * x
shared T diagonal[COLUMNS];     // of R

void wait() {
    memoryBarrierBuffer();
    barrier();
}

void main() {
    uint matrix = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (matrix >= arguments.batch) return;
    uint c = gl_LocalInvocationIndex % COLUMNS;
    uint lane = gl_LocalInvocationIndex / COLUMNS;
    uint lanes = gl_WorkGroupSize.x / COLUMNS;
    bool used = c < arguments.width;
    uint m = arguments.m, n = arguments.n;
    Elements a = Elements(vx_address(arguments.a, matrix, m * n));
    Elements v = Elements(vx_address(arguments.v, matrix, m * arguments.count));
    Elements t = Elements(vx_address(arguments.t, matrix, COLUMNS * COLUMNS));
    uint column = arguments.first + c;

    for (uint j = 0u; j < arguments.width; ++j) {
        uint row = arguments.first + j;
        uint pivot = row;       // its column, as it happens
        int shift = 0;
        for (int attempt = 0; attempt < 2; ++attempt) {
            REAL unit = vx_two_to_the(shift);
            T sum = T(0);
            if (used) {
                EACH(i, row + 1u + lane, m, lanes) {
                    T x = vx_scaled(a.data[i * n + pivot], unit);
                    T other = a.data[i * n + column];
                    sum = vx_multiply_add(vx_conjugate(x), c == j ? x : other, sum);
                }
            }
            exchange[gl_LocalInvocationIndex] = sum;
            barrier();
            if (lane == 0u) {
                for (uint k = 1u; k < lanes; ++k) sum += exchange[k * COLUMNS + c];
                products[c] = sum;
            }
            barrier();
            // NaN makes no difference: it is not below anything.
            if (attempt == 1 || !(vx_real(products[j]) < SMALL_SQUARE)) break;
            int exponent = -2 * MAXIMUM_EXPONENT;
            EACH(i, row + 1u + gl_LocalInvocationIndex, m, gl_WorkGroupSize.x) {
                exponent = max(exponent, vx_largest_exponent(a.data[i * n + pivot]));
            }
            exchange[gl_LocalInvocationIndex] = FROM_REAL(REAL(exponent));
            barrier();
            for (uint k = 0u; k < gl_WorkGroupSize.x; ++k) exponent = max(exponent, int(vx_real(exchange[k])));
            shift = clamp(-exponent, 0, LARGEST_SHIFT);
            barrier();
        }

        T alpha = a.data[row * n + pivot];
        T tau = T(0), scale = T(0);
        REAL beta = REAL(0);
        REAL square = vx_real(products[j]);
        bool reflects = !(square < SMALL_SQUARE);
        if (reflects) vx_reflector(vx_scaled(alpha, vx_two_to_the(shift)), square, beta, tau, scale);
        T factor = vx_scaled(scale, vx_two_to_the(shift));
        if (used && c > j && reflects) {
            precise T above = a.data[row * n + column];
            precise T inner = above + vx_times(vx_conjugate(scale), products[c]);
            T taken = vx_times(vx_conjugate(tau), inner);
            if (lane == 0u) {
                above = above - taken;
                exchange[c] = above;    // every lane has to read the old one first
            }
            T step_ = vx_times(factor, taken);
            for (uint i = row + 1u + lane; i < m; i += UNROLL * lanes) {
                // All loads first: none may pass the store of another row.
                T rest[UNROLL], x[UNROLL];
                [[unroll]] for (uint u = 0u; u < UNROLL; ++u) {
                    uint at = min(i + u * lanes, m - 1u) * n;
                    rest[u] = a.data[at + column];
                    x[u] = a.data[at + pivot];
                }
                [[unroll]] for (uint u = 0u; u < UNROLL; ++u) {
                    precise T updated = rest[u] - vx_times(x[u], step_);
                    if (i + u * lanes < m) a.data[(i + u * lanes) * n + column] = updated;
                }
            }
        }
        if (c < j && lane == 0u) {
            T own = factors[c];
            precise T inner = vx_times(a.data[row * n + column], own);
            inner = vx_conjugate(inner) + vx_times(vx_times(vx_conjugate(own), scale), vx_conjugate(products[c]));
            left[c] = inner;
        }
        wait();
        if (lane == 0u) {
            if (used && c > j && reflects) a.data[row * n + column] = exchange[c];
            if (c == j) {
                Elements(arguments.tau).data[matrix * arguments.count + column] = tau;
                factors[j] = factor;
                diagonal[j] = reflects ? FROM_REAL(beta * vx_two_to_the(-shift)) : alpha;
            }
            T sum = T(0);
            for (uint k = c; k < j; ++k) sum = vx_multiply_add(t.data[c * COLUMNS + k], left[k], sum);
            if (used) t.data[c * COLUMNS + j] = c < j ? -vx_times(tau, sum) : (c == j ? tau : T(0));
        }
        wait();
    }

    if (!used) return;
    EACH(i, arguments.first + lane, m, lanes) {
        T element = i < column ? T(0) : FROM_REAL(REAL(1));
        if (i > column) element = vx_times(a.data[i * n + column], factors[c]);
        v.data[i * arguments.count + column] = element;
        if (i == column) a.data[i * n + column] = diagonal[c];
    }
}
