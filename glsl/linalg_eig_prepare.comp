// Copies each matrix of a stack, divided by the power of two that brings its largest part into [1, 2), above an identity
// matrix (where `rows` is 2 n); begins its state, and says whether it is Hermitian. One workgroup works on a matrix.
#include "lib/extensions.glsl"
#include "lib/eig.glsl"

layout(local_size_x_id = 0) in;

layout(push_constant, scalar) uniform Push {
    uvec2 a;            // (batch, n, n)
    uvec2 h;            // (batch, rows, n)
    uvec2 states;       // (batch, STATE_WORDS)
    uvec2 counts;       // how many matrices have come to each status
    uint batch, n, rows;
} push;

shared int exponent;
shared int differs;

void main() {
    uint matrix = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (matrix >= push.batch) return;
    uint n = push.n, count = n * n;
    uvec2 a = vx_address(push.a, matrix, count);
    uvec2 h = vx_address(push.h, matrix, push.rows * n);
    if (gl_LocalInvocationIndex == 0u) {
        exponent = -2 * MAXIMUM_EXPONENT;
        differs = 0;
    }
    barrier();
    int own = -2 * MAXIMUM_EXPONENT;
    bool own_differs = false;
    EACH(e, gl_LocalInvocationIndex, count, gl_WorkGroupSize.x) {
        T element = Elements(a).data[e];
        own = max(own, vx_exponent_of(vx_larger_part(element)));
#ifdef COMPLEX
        own = max(own, vx_exponent_of(element.x));
        own = max(own, vx_exponent_of(element.y));
#endif
        own_differs = own_differs || element != vx_conjugate(Elements(a).data[e % n * n + e / n]);
    }
    atomicMax(exponent, own);
    if (own_differs) atomicMax(differs, 1);
    barrier();
    bool finite = exponent < MAXIMUM_EXPONENT;
    int shift = finite ? -exponent : 0;
    EACH(e, gl_LocalInvocationIndex, count, gl_WorkGroupSize.x) {
        Elements(h).data[e] = vx_shifted(Elements(a).data[e], shift);
    }
    if (push.rows > n) {
        EACH(e, gl_LocalInvocationIndex, count, gl_WorkGroupSize.x) {
            Elements(h).data[count + e] = FROM_REAL(REAL(e / n == e % n ? 1 : 0));
        }
    }
    if (gl_LocalInvocationIndex == 0u) {
        uint state = matrix * STATE_WORDS;
        for (uint word = 0u; word < STATE_WORDS; ++word) State(push.states).data[state + word] = 0;
        State(push.states).data[state + STATUS] = finite ? RUNNING : NOT_FINITE;
        State(push.states).data[state + HIGH] = int(n);
        State(push.states).data[state + HERMITIAN] = 1 - differs;
        State(push.states).data[state + EXPONENT] = -shift;
        if (!finite) atomicAdd(State(push.counts).data[NOT_FINITE], 1);
    }
}
