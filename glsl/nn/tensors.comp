// One step over many tensors in one dispatch: BODY changes the numbers x[0], x[1], ... of an element, of which those in READS
// come from memory and those in WRITES go there. A table has a row for each tensor: how many elements it has, the first
// workgroup that works on it, and the addresses of its arrays, all of them contiguous.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#include "lib/optimizers.glsl"

layout(local_size_x_id = 0) in;

#define PER_INVOCATION 8u
#define ROW_WORDS (4u + 2u * uint(SLOTS) + 4u)

layout(buffer_reference, scalar) buffer Elements { A_STORAGE data[]; };
layout(buffer_reference, scalar) readonly buffer Singles { float data[]; };
layout(buffer_reference, scalar) writeonly buffer Noted { float data[]; };
layout(buffer_reference, scalar) readonly buffer Table { uint data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 table;
    uvec2 skip;   // 0, or where a float32 says, by not being 0, that nothing is to change
    uvec2 scale;  // 0, or where a float32 lies by which gradients have to be divided
    uvec2 noted;  // 0, or where a float32 becomes 1 when BODY notes something
    uint tensors;
    uint flags;
    uvec2 parameters[10];
} arguments;

#ifdef DOUBLE
#define PARAMETER(k) packDouble2x32(arguments.parameters[k])
#define OF_TENSOR(k) packDouble2x32(uvec2(word(row, 4u + 2u * uint(SLOTS) + 2u * k), word(row, 5u + 2u * uint(SLOTS) + 2u * k)))
#else
#define PARAMETER(k) uintBitsToFloat(arguments.parameters[k].x)
#define OF_TENSOR(k) uintBitsToFloat(word(row, 4u + 2u * uint(SLOTS) + 2u * k))
#endif
#define FLAG(bit) ((arguments.flags & (bit)) != 0u)

uint word(uint row, uint place) { return Table(arguments.table).data[row * ROW_WORDS + place]; }
uvec2 address(uint row, uint slot) { return uvec2(word(row, 4u + 2u * slot), word(row, 5u + 2u * slot)); }

void note() { Noted(arguments.noted).data[0] = 1.0; }

void main() {
    if (arguments.skip != uvec2(0u) && Singles(arguments.skip).data[0] != 0.0) return;
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint row = 0u;
    // The last tensor whose first workgroup is not behind this one.
    for (uint end = arguments.tensors; end - row > 1u;) {
        uint middle = (row + end) / 2u;
        if (word(middle, 1u) <= group) row = middle;
        else end = middle;
    }
    uint count = word(row, 0u);
    uint first = (group - word(row, 1u)) * gl_WorkGroupSize.x * PER_INVOCATION + gl_LocalInvocationIndex;
    T scale = arguments.scale == uvec2(0u) ? T(1) : T(Singles(arguments.scale).data[0]);
    T step = T(0);
    if (word(row, 2u) != 0u || word(row, 3u) != 0u) step = T(Singles(uvec2(word(row, 2u), word(row, 3u))).data[0]);
    T p = OF_TENSOR(0u);
    T q = OF_TENSOR(1u);
    PREPARE
    for (uint k = 0u; k < PER_INVOCATION; ++k) {
        uint element = first + k * gl_WorkGroupSize.x;
        if (element < count) {
            T x[SLOTS];
            [[unroll]] for (uint slot = 0u; slot < uint(SLOTS); ++slot) {
                x[slot] = T(0);
                if ((READS >> slot & 1) != 0) x[slot] = A_LOAD(Elements(address(row, slot)).data[element]);
            }
            BODY
            [[unroll]] for (uint slot = 0u; slot < uint(SLOTS); ++slot) {
                if ((WRITES >> slot & 1) != 0) Elements(address(row, slot)).data[element] = A_STORE(x[slot]);
            }
        }
    }
}
