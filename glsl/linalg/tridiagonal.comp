// One step of the reduction of Hermitian matrices to tridiagonal form by reflectors H = 1 - tau v v^H (LAPACK's xHETD2): the
// step of column j takes the reflector of column j - 1 off what remains of the matrix, finds the next reflector, and
// multiplies the remaining matrix by its v. A workgroup does so for COLUMNS * WIDE columns of one matrix, an invocation for
// blocks of 4 / WIDE rows and WIDE columns, COLUMNS apart.
//
//   w = tau p + alpha v with p = A v and alpha = -|tau|^2 (v^H p) / 2;   A -= v w^H + w v^H;   x = column j of A
//
// Every workgroup finds the sums over whole columns for itself, which costs less than another dispatch. Row and column j
// are read by all and written by none.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/householder.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint COLUMNS = 32u;
layout(constant_id = 2) const uint WIDE = 1u;
const uint HIGH = 4u / WIDE;

layout(buffer_reference, scalar) buffer Elements { T data[]; };
layout(buffer_reference, scalar) buffer Reals { REAL data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 a;            // (batch, n, n)
    uvec2 v;            // (batch, reflectors, n): v of each column, zeros where nothing is written
    uvec2 p;            // (2, batch, n): for odd and even columns
    uvec2 tau;          // (batch, reflectors)
    uvec2 diagonal;     // (batch, n)
    uvec2 off_diagonal; // (batch, n)
    uint batch, n, reflectors;
    uint j;
} arguments;

shared T exchange[gl_WorkGroupSize.x];
shared T old_v[gl_WorkGroupSize.x], old_w[gl_WorkGroupSize.x], new_v[gl_WorkGroupSize.x];

// The sum over the workgroup.
T total(T own) {
    exchange[gl_LocalInvocationIndex] = own;
    barrier();
    for (uint half_ = gl_WorkGroupSize.x / 2u; half_ > 0u; half_ /= 2u) {
        if (gl_LocalInvocationIndex < half_) {
            precise T sum = exchange[gl_LocalInvocationIndex] + exchange[gl_LocalInvocationIndex + half_];
            exchange[gl_LocalInvocationIndex] = sum;
        }
        barrier();
    }
    T sum = exchange[0];
    barrier();
    return sum;
}

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint n = arguments.n, j = arguments.j;
    uint tiles = max((n - 1u - j + COLUMNS * WIDE - 1u) / (COLUMNS * WIDE), 1u);
    uint matrix = group / tiles;
    if (matrix >= arguments.batch) return;
    uint tile = group - matrix * tiles;
    Elements a = Elements(vx_address(arguments.a, matrix, n * n));
    uvec2 own_v = vx_address(arguments.v, matrix, arguments.reflectors * n);
    Elements v = Elements(vx_address(own_v, j == 0u ? 0u : j - 1u, n));
    Elements p = Elements(vx_address(arguments.p, (j + 1u & 1u) * arguments.batch + matrix, n));
    T tau = T(0);
    REAL alpha = REAL(0);
    T row_w = T(0);         // w in row j, where v is 1
    bool updates = j > 0u;
    if (updates) {
        tau = Elements(arguments.tau).data[matrix * arguments.reflectors + j - 1u];
        T sum = T(0);
        EACH(r, j + gl_LocalInvocationIndex, n, gl_WorkGroupSize.x) {
            sum = vx_multiply_add(vx_conjugate(v.data[r]), p.data[r], sum);
        }
        precise REAL product = REAL(-0.5) * vx_squared(tau) * vx_real(total(sum));
        alpha = product;
        precise T w = vx_times(tau, p.data[j]) + FROM_REAL(alpha);
        row_w = w;
    }
#define W(r) (vx_times(tau, p.data[r]) + vx_scaled(v.data[r], alpha))
#define X(r) (vx_conjugate(a.data[j * n + r]) - (updates ? vx_times(v.data[r], vx_conjugate(row_w)) + W(r) : T(0)))

    T square = T(0);
    EACH(r, j + 2u + gl_LocalInvocationIndex, n, gl_WorkGroupSize.x) {
        precise T x = X(r);
        square = vx_multiply_add(vx_conjugate(x), x, square);
    }
    REAL tail = vx_real(total(square));
    if (tail < SMALL_SQUARE) tail = REAL(0);    // no more than a rounding error of the matrix, whose largest part is 1
    precise T head = T(0);
    if (j + 1u < n) head = X(j + 1u);
    T new_tau = T(0), scale = T(0);
    REAL beta = vx_real(head);
#ifdef COMPLEX
    bool reflects = !(tail + vx_squared(head) < SMALL_SQUARE);
#else
    bool reflects = tail != REAL(0);
#endif
    if (reflects) vx_reflector(head, tail, beta, new_tau, scale);
    if (tail == REAL(0)) scale = T(0);
    if (tile == 0u && gl_LocalInvocationIndex == 0u) {
        precise T x = X(j);
        Reals(arguments.diagonal).data[matrix * n + j] = vx_real(x);
        Reals(arguments.off_diagonal).data[matrix * n + j] = j + 1u < n ? beta : REAL(0);
        if (j + 1u < n) Elements(arguments.tau).data[matrix * arguments.reflectors + j] = new_tau;
    }

    uint place = gl_LocalInvocationIndex % COLUMNS;
    uint lane = gl_LocalInvocationIndex / COLUMNS;
    uint lanes = gl_WorkGroupSize.x / COLUMNS;
    uint c = j + 1u + tile * COLUMNS * WIDE + place;
    T column_v[4], column_w[4], sums[4];
    [[unroll]] for (uint u = 0u; u < WIDE; ++u) {
        uint column = min(c + u * COLUMNS, n - 1u);
        precise T w = updates ? W(column) : T(0);
        column_v[u] = updates ? vx_conjugate(v.data[column]) : T(0);
        column_w[u] = vx_conjugate(w);
        sums[u] = T(0);
    }
    for (uint first = j + 1u; first < n; first += gl_WorkGroupSize.x) {
        uint r = first + gl_LocalInvocationIndex;
        if (r < n) {
            precise T w = T(0);
            if (updates) {
                w = W(r);
                old_v[gl_LocalInvocationIndex] = v.data[r];
            }
            old_w[gl_LocalInvocationIndex] = w;
            precise T x = X(r);
            new_v[gl_LocalInvocationIndex] = r == j + 1u ? FROM_REAL(REAL(1)) : vx_times(x, scale);
        }
        barrier();
        uint rows = min(gl_WorkGroupSize.x, n - first);
        for (uint k = lane; k < rows; k += HIGH * lanes) {
            // All loads first: none may pass the store of another row.
            T element[4];
            [[unroll]] for (uint q = 0u; q < HIGH; ++q) {
                uint at = (first + min(k + q * lanes, rows - 1u)) * n;
                [[unroll]] for (uint u = 0u; u < WIDE; ++u) element[q * WIDE + u] = a.data[at + min(c + u * COLUMNS, n - 1u)];
            }
            [[unroll]] for (uint q = 0u; q < HIGH; ++q) {
                uint row = k + q * lanes;
                if (row >= rows) break;
                T row_v = old_v[row], row_w_ = old_w[row], row_new = new_v[row];
                [[unroll]] for (uint u = 0u; u < WIDE; ++u) {
                    T updated = element[q * WIDE + u];
                    if (updates) {
                        precise T rest = updated - (vx_times(row_v, column_w[u]) + vx_times(row_w_, column_v[u]));
                        updated = rest;
                        uint column = c + u * COLUMNS;
                        if (column < n) a.data[(first + row) * n + column] = updated;
                    }
                    sums[u] = vx_multiply_add(vx_conjugate(updated), row_new, sums[u]);
                }
            }
        }
        barrier();
    }
    [[unroll]] for (uint u = 0u; u < WIDE; ++u) {
        T sum = sums[u];
        exchange[gl_LocalInvocationIndex] = sum;
        barrier();
        uint column = c + u * COLUMNS;
        if (lane == 0u && column < n) {
            for (uint k = 1u; k < lanes; ++k) {
                precise T next = sum + exchange[k * COLUMNS + place];
                sum = next;
            }
            Elements(vx_address(arguments.p, (j & 1u) * arguments.batch + matrix, n)).data[column] = sum;
            precise T x = X(column);
            Elements(vx_address(own_v, j, n)).data[column] = column == j + 1u ? FROM_REAL(REAL(1)) : vx_times(x, scale);
        }
        barrier();
    }
}
