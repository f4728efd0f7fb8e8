// For every value, the place where it belongs in an ascending row of keys: before the keys equal to it, or after them
// (RIGHT in `side`). Binary search, one invocation for each value. PRECEDES says whether a comes before b; NaN is last.
#include "lib/extensions.glsl"
#include "lib/address.glsl"
#include "lib/dtypes.glsl"
#include LIBRARY

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Elements { A_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer Results { R_STORAGE data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 keys;
    Elements values;
    Results results;
    uint key_count;
    uint value_count;
    uint right;
} arguments;

bool precedes(A_COMPUTE a, A_COMPUTE b) { return PRECEDES; }

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.value_count) return;
    A_COMPUTE value = A_LOAD(arguments.values.data[index]);
    uint low = 0u;
    uint high = arguments.key_count;
    while (low < high) {
        uint middle = low + (high - low) / 2u;
        A_COMPUTE key = A_LOAD(Elements(vx_address(arguments.keys, middle, A_BYTES)).data[0]);
        bool after = arguments.right != 0u ? !precedes(value, key) : precedes(key, value);
        if (after) low = middle + 1u;
        else high = middle;
    }
    arguments.results.data[index] = R_STORE(R_COMPUTE(low));
}
