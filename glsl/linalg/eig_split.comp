// The eigenvalues of the diagonal blocks of 1 and 2 rows that the QR algorithm leaves; for a block of 2, also the first column
// (g, h) of the unitary matrix ((g, -conj h), (h, conj g)) that makes it triangular. One invocation for a row.
#include "lib/extensions.glsl"
#include "lib/eig.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) writeonly buffer Results { C data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 h;            // (batch, rows, n)
    uvec2 states;       // (batch, STATE_WORDS)
    uvec2 eigenvalues;  // (batch, n)
    uvec2 blocks;       // (batch, n, 3): the eigenvalue of the scaled matrix, g and h; 0 for both in blocks of 1
    uint batch, n, rows;
} arguments;

// The root with a real part of 0 or more.
C root(C z) {
    REAL larger = vx_larger_part(z);
    if (larger == REAL(0)) return z;
    int half_exponent = vx_exponent_of(larger) >> 1;
    C scaled = vx_shifted(z, -2 * half_exponent);
    precise REAL modulus = sqrt(vx_squared(scaled));
    precise REAL one = sqrt((modulus + abs(scaled.x)) * REAL(0.5));
    precise REAL other = abs(scaled.y) / (one + one);
    C result = scaled.x >= REAL(0) ? C(one, other) : C(other, one);
    if (scaled.y < REAL(0)) result.y = -result.y;
    return vx_shifted(result, half_exponent);
}

// From ((a, b), (c, d)), c != 0: the eigenvalues less d, and (g, h); the block is of moderate size.
void solve(T a, T b, T c, T d, out C first, out C second, out C g, out C h) {
    T half_ = vx_scaled(vx_difference(a, d), REAL(0.5)), product = vx_times(b, c);
    T square = vx_sum(vx_times(half_, half_), product);
    // Of the roots of x^2 - 2 half x - product the one without cancellation; the other by their product.
#ifdef COMPLEX
    C height = root(square);
    C along = vx_times(vx_conjugated(half_), height);
    if (along.x < REAL(0)) height = -height;
    first = vx_sum(half_, height);
#else
    precise REAL height = sqrt(abs(square));
    first = square < REAL(0) ? C(half_, height) : vx_complex(vx_sum(half_, half_ < REAL(0) ? -height : height));
    if (square < REAL(0)) second = vx_conjugated(first);
    else
#endif
    second = vx_larger_part(first) == REAL(0) ? first : vx_quotient(vx_complex(-product), first);
    // An eigenvector for `first` is orthogonal to the rows of the block less the eigenvalue; the larger row is the surer.
    C one = vx_complex(b), other = vx_difference(vx_difference(first, vx_complex(half_)), vx_complex(half_));
    precise REAL upper = vx_squared(one) + vx_squared(other), lower = vx_squared(first) + vx_squared(vx_complex(c));
    precise REAL inverse = REAL(1) / sqrt(max(upper, lower));
    g = vx_scaled(upper > lower ? one : first, inverse);
    h = vx_scaled(upper > lower ? other : vx_complex(c), inverse);
}

void main() {
    uint unit = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint n = arguments.n, matrix = unit / n;
    if (matrix >= arguments.batch) return;
    uint row = unit - matrix * n;
    uvec2 address = vx_address(arguments.h, matrix, arguments.rows * n);
    bool hermitian = State(arguments.states).data[matrix * STATE_WORDS + DIFFERS] == 0;
    int exponent = State(arguments.states).data[matrix * STATE_WORDS + LARGEST] - EXPONENT_BIAS;
    bool is_first = row + 1u < n && Elements(address).data[(row + 1u) * n + row] != T(0);
    bool is_second = !is_first && row > 0u && Elements(address).data[row * n + row - 1u] != T(0);
    T d = Elements(address).data[row * n + row];
    C value = vx_complex(d), g = C(0), h = C(0);
    if (is_first || is_second) {
        uint top = is_first ? row : row - 1u;
        T a = Elements(address).data[top * n + top], b = Elements(address).data[top * n + top + 1u];
        T c = Elements(address).data[(top + 1u) * n + top];
        d = Elements(address).data[(top + 1u) * n + top + 1u];
        if (hermitian) {
            a = FROM_REAL(vx_real(a));
            b = vx_conjugate(c);
            d = FROM_REAL(vx_real(d));
        }
        T apart = vx_difference(a, d);
        int shift = -vx_exponent_of(max(vx_larger_part(apart), max(vx_larger_part(b), vx_larger_part(c))));
        C one, other;
        solve(vx_shifted(apart, shift), vx_shifted(b, shift), vx_shifted(c, shift), T(0), one, other, g, h);
        value = vx_sum(vx_complex(d), vx_shifted(is_first ? one : other, -shift));
    }
    if (hermitian) value.y = REAL(0);
    Results(arguments.eigenvalues).data[unit] = vx_shifted(value, exponent);
    uint place = 3u * unit;
    Results(arguments.blocks).data[place] = value;
    Results(arguments.blocks).data[place + 1u] = is_first ? g : C(0);
    Results(arguments.blocks).data[place + 2u] = is_first ? h : C(0);
}
