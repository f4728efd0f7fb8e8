// Copies each matrix of a stack with rows and columns in their order, divided by the power of two that brings its largest part
// into [1, 2), above the matrix of that order (where `rows` is 2 n); begins its state. An invocation makes an element.
#include "lib/extensions.glsl"
#include "lib/eig.glsl"

layout(local_size_x_id = 0) in;

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 a;            // (batch, n, n)
    uvec2 h;            // (batch, rows, n)
    uvec2 states;       // (batch, STATE_WORDS)
    uvec2 order;        // (batch, n)
    uvec2 counts;       // how many matrices have come to each status
    uint batch, n, rows;
} arguments;

void main() {
    uint n = arguments.n, count = arguments.rows * n;
    uint tiles = (count + gl_WorkGroupSize.x - 1u) / gl_WorkGroupSize.x;
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint matrix = group / tiles;
    uint element = (group - matrix * tiles) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (matrix >= arguments.batch || element >= count) return;
    uint state = matrix * STATE_WORDS, row = element / n, column = element - row * n;
    int exponent = State(arguments.states).data[state + LARGEST] - EXPONENT_BIAS;
    bool finite = exponent < MAXIMUM_EXPONENT;
    uint source = uint(State(arguments.order).data[matrix * n + column]);
    T value = FROM_REAL(REAL(row - n == source ? 1 : 0));
    if (row < n) {
        uint from = uint(State(arguments.order).data[matrix * n + row]) * n + source;
        value = vx_shifted(Elements(vx_address(arguments.a, matrix, n * n)).data[from], finite ? -exponent : 0);
    }
    Elements(vx_address(arguments.h, matrix, count)).data[element] = value;
    if (element == 0u) {
        State(arguments.states).data[state + STATUS] = finite ? RUNNING : NOT_FINITE;
        State(arguments.states).data[state + HIGH] = int(n);
        State(arguments.states).data[state + LOW] = 0;
        if (!finite) atomicAdd(State(arguments.counts).data[NOT_FINITE], 1);
    }
}
