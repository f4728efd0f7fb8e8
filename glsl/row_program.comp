// A kernel for rows without a meaning: what it computes is linked (vkarray/kernels/row_program.py). First come values of the row,
// such as sums of it, which all its MEMBERS know; then results of one element for the row, and those of all its elements.
//
// An operand has an element at the place of its row, and of the element in that row. `walk` says where: sizes of AXES axes, of
// which the first ROW_AXES are those of rows, then the strides of each operand that lies somewhere.
#include "lib/extensions.glsl"
#ifdef SUBGROUPS
#extension GL_KHR_shader_subgroup_basic : require
#endif
#include "lib/address.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint MEMBERS = 1u;
layout(constant_id = 2) const bool COLUMNS = false;  // neighbouring rows have neighbouring elements
layout(constant_id = 3) const uint LENGTH = 1u;      // of a row; 0 where it is an argument
layout(constant_id = 4) const uint VECTOR = 1u;      // elements that are stored at once
layout(constant_id = 5) const int ROW_AXES = 1;
layout(constant_id = 6) const int AXES = 2;
layout(constant_id = 7) const uint KEPT_PACKS = 0u;  // of an invocation: it computes results of those that it reduced
layout(constant_id = 8) const uint SUBGROUP = 1u;  // invocations of a subgroup, which exchange values
layout(constant_id = 9) const uint BATCH = 4u;     // packs that are loaded before one is stored
const uint LANES = 8u;  // of glsl/reduce.comp

#define INPUTS 56
#define RESULTS 8
#define PARAMETERS 16

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 inputs[INPUTS];  // addresses, numbers, or where the places of elements begin
    uvec2 results[RESULTS];
    uvec2 parameters[PARAMETERS];  // two of each reduction
    uint rows;
    uint row_length;
    int walk[16 * 33];
} arguments;

uint own;     // number of this invocation in its workgroup
uint row;     // of this invocation, or another one where there is none
uint member;  // number of this invocation in its row
uint count;   // of elements: none where there is no row

uvec2 input_at(uint number) { return arguments.inputs[number]; }
uvec2 result_at(uint number) { return arguments.results[number]; }
uvec2 parameter_at(uint number) { return arguments.parameters[number]; }
uint own_here() { return own; }
uint member_here() { return member; }
uint count_here() { return count; }

// The place of an element of some axes in an operand.
int place_along(uint operand, uint number, int first, int end) {
    int place = 0;
    for (int axis = end - 1; axis >= first; --axis) {
        int position = int(number);
        if (axis > first) {
            uint size = uint(arguments.walk[axis]);
            uint next = number / size;
            position = int(number - next * size);
            number = next;
        }
        place += position * arguments.walk[int(operand + 1u) * AXES + axis];
    }
    return place;
}

// The place of the row, and the place of its element from there.
uint row_place(uint operand) { return uint(place_along(operand, row, 0, ROW_AXES)); }
uint place_of(uint operand, uint index) { return uint(place_along(operand, index, ROW_AXES, AXES)); }

// Addresses in an operand whose elements have so many bytes: of the row, and of an element from there.
uvec2 address_of(uvec2 first, uint operand, uint bytes) { return vx_address(first, int(row_place(operand)), int(bytes)); }
uvec2 address_at(uvec2 first, uint operand, uint index, uint bytes) {
    return vx_address(first, int(place_of(operand, index)), int(bytes));
}

// To be linked: values of a row, results of one element, and those of an element, a pack, BATCH packs that the members of a row
// lie between, and KEPT_PACKS that LANES lie between. The compiler drops functions that nothing calls.
void values() {
    uvec2 first = input_at(member_here()) + result_at(count_here()) + parameter_at(own_here());
    address_at(address_of(first, 0u, 1u), 0u, 0u, 1u);
}
void row_results() {}
void element(uint index) { place_of(0u, index); }
void pack(uint number) {}
void batch(uint number) {}
void kept_packs(uint number) {}

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint units = gl_WorkGroupSize.x / MEMBERS;
#ifdef SUBGROUPS
    own = gl_SubgroupID * SUBGROUP + gl_SubgroupInvocationID;
#else
    own = gl_LocalInvocationIndex;
#endif
    member = COLUMNS ? own / units : own % MEMBERS;
    uint unit = group * units + (COLUMNS ? own % units : own / MEMBERS);
    bool inside = unit < arguments.rows;
    row = inside ? unit : 0u;
    uint elements = LENGTH > 0u ? LENGTH : arguments.row_length;
    count = inside ? elements : 0u;
    values();
    if (!inside) return;
    if (member == 0u) row_results();
    if (KEPT_PACKS > 0u) {
        uint number = member / LANES * LANES * KEPT_PACKS + member % LANES;
        if (number * VECTOR < elements) kept_packs(number);
        return;
    }
    uint packs = elements / VECTOR;
    uint number = member;
    for (; number + (BATCH - 1u) * MEMBERS < packs; number += BATCH * MEMBERS) batch(number);
    for (; number < packs; number += MEMBERS) pack(number);
    if (VECTOR == 1u) return;  // single elements are packs
    for (uint index = packs * VECTOR + member; index < elements; index += MEMBERS) element(index);
}
