// Deflation (LAPACK's xLAED2): which eigenvalues of two blocks stay as they are in the matrix that joins them. Those are
// the ones whose weight is negligible, and, after a rotation that makes it zero, one of two that are all but equal. One
// workgroup works on a pair of blocks: it loads together, and its first invocation decides one by one.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/tridiagonal.glsl"

layout(local_size_x_id = 0) in;

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 ordered;      // (pairs, size): the eigenvalues in order
    uvec2 ordered_weights;
    uvec2 ordered_slots;
    uvec2 poles;        // (pairs, size): those kept, in order, and from the end the others
    uvec2 weights;      // (pairs, size): of those kept
    uvec2 slots;        // (pairs, size): of all
    uvec2 rotated;      // (pairs, size, 2): the slots of each rotation
    uvec2 rotations;    // (pairs, size, 2): its cosine and sine
    uvec2 counts;       // (pairs, 2): how many are kept, and how many rotations there are
    uvec2 off_diagonal; // (batch, n)
    uvec2 norm;         // (batch)
    uint pairs, n, merges, size;
} arguments;

shared REAL loaded_poles[gl_WorkGroupSize.x];
shared REAL loaded_weights[gl_WorkGroupSize.x];
shared int loaded_slots[gl_WorkGroupSize.x];

void main() {
    uint pair = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (pair >= arguments.pairs) return;
    uint matrix = pair / arguments.merges;
    uint border = (pair - matrix * arguments.merges) * arguments.size + arguments.size / 2u;
    precise REAL rho = border < arguments.n ? REAL(2) * abs(Reals(arguments.off_diagonal).data[matrix * arguments.n + border - 1u]) : REAL(0);
    precise REAL tolerance = REAL(4) * EPSILON * Reals(arguments.norm).data[matrix];
    Reals ordered = Reals(vx_address(arguments.ordered, pair, arguments.size));
    Reals ordered_weights = Reals(vx_address(arguments.ordered_weights, pair, arguments.size));
    Reals poles = Reals(vx_address(arguments.poles, pair, arguments.size));
    Reals weights = Reals(vx_address(arguments.weights, pair, arguments.size));
    Integers ordered_slots = Integers(arguments.ordered_slots);
    Integers slots = Integers(arguments.slots);
    Integers rotated = Integers(arguments.rotated);
    Reals rotations = Reals(vx_address(arguments.rotations, pair, 2u * arguments.size));
    uint base = pair * arguments.size;

    uint kept = 0u, rest = arguments.size, turned = 0u;
    bool waiting = false;
    REAL last_pole = REAL(0), last_weight = REAL(0);
    int last_slot = 0;
    for (uint first = 0u; first < arguments.size; first += gl_WorkGroupSize.x) {
        uint place = first + gl_LocalInvocationIndex;
        if (place < arguments.size) {
            loaded_poles[gl_LocalInvocationIndex] = ordered.data[place];
            loaded_weights[gl_LocalInvocationIndex] = ordered_weights.data[place];
            loaded_slots[gl_LocalInvocationIndex] = ordered_slots.data[base + place];
        }
        barrier();
        uint count = gl_LocalInvocationIndex == 0u ? min(gl_WorkGroupSize.x, arguments.size - first) : 0u;
        for (uint k = 0u; k < count; ++k) {
            REAL pole = loaded_poles[k];
            REAL weight = loaded_weights[k];
            int slot = loaded_slots[k];
            bool leaves = false;
            REAL leaving = pole;
            int leaving_slot = slot;
            precise REAL part = rho * abs(weight);
            if (part <= tolerance) {
                leaves = true;
            } else {
                if (waiting) {
                    precise REAL gap = pole - last_pole;
                    precise REAL square = weight * weight + last_weight * last_weight;
                    precise REAL size = gap * abs(weight * last_weight);
                    precise REAL limit = tolerance * square;
                    if (size <= limit) {
                        precise REAL root = sqrt(square);
                        precise REAL c = weight / root;
                        precise REAL s = -last_weight / root;
                        precise REAL lower = last_pole + gap * (s * s);
                        precise REAL upper = pole - gap * (s * s);
                        leaves = true;
                        leaving = lower;
                        leaving_slot = last_slot;
                        pole = upper;
                        weight = root;
                        rotated.data[2u * (base + turned)] = last_slot;
                        rotated.data[2u * (base + turned) + 1u] = slot;
                        rotations.data[2u * turned] = c;
                        rotations.data[2u * turned + 1u] = s;
                        ++turned;
                    } else {
                        poles.data[kept] = last_pole;
                        weights.data[kept] = last_weight;
                        slots.data[base + kept] = last_slot;
                        ++kept;
                    }
                }
                waiting = true;
                last_pole = pole;
                last_weight = weight;
                last_slot = slot;
            }
            if (leaves) {
                --rest;
                poles.data[rest] = leaving;
                slots.data[base + rest] = leaving_slot;
            }
        }
        barrier();
    }
    if (gl_LocalInvocationIndex != 0u) return;
    if (waiting) {
        poles.data[kept] = last_pole;
        weights.data[kept] = last_weight;
        slots.data[base + kept] = last_slot;
        ++kept;
    }
    Integers(arguments.counts).data[2u * pair] = int(kept);
    Integers(arguments.counts).data[2u * pair + 1u] = int(turned);
}
