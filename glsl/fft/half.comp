// The spectrum of 2 n real points from that of n pairs of them: results k and n - k from elements k and n - k.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/fft_radix.glsl"

layout(local_size_x_id = 0) in;

layout(buffer_reference, scalar) readonly buffer Elements { COMPLEX data[]; };
layout(buffer_reference, scalar) writeonly buffer Results { COMPLEX data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    Elements a;
    Results r;
    Elements roots;  // exp(-2 pi i k / (2 n))
    uint count;      // of pairs, of all transforms
    uint points;     // n
    int a_step, r_step;
    uint conjugate;
    uint place_axis; // the dimension of `layout_` that counts k
    uint rank;
    int layout_[192]; // sizes of the dimensions; strides in a; strides in r
} arguments;

int layout_at(uint row, uint axis) { return arguments.layout_[row * arguments.rank + axis]; }

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.count) return;
    int a_offset = 0, r_offset = 0;
    uint k = 0u;
    for (int axis = int(arguments.rank) - 1; axis >= 0; --axis) {
        uint position = index;
        if (axis > 0) {
            uint size = uint(layout_at(0u, uint(axis)));
            uint quotient = index / size;
            position = index - quotient * size;
            index = quotient;
        }
        a_offset += int(position) * layout_at(1u, uint(axis));
        r_offset += int(position) * layout_at(2u, uint(axis));
        if (axis == int(arguments.place_axis)) k = position;
    }
    int mirror = int(arguments.points) - 2 * int(k);
    COMPLEX near = arguments.a.data[a_offset], far = k == 0u ? near : arguments.a.data[a_offset + mirror * arguments.a_step];
    COMPLEX first, last;
    vx_unfold(near, far, arguments.roots.data[k], first, last);
    if (k == 0u) first.y = last.y = REAL(0);  // real, whatever the signs of zeros
    arguments.r.data[r_offset] = arguments.conjugate != 0u ? vx_conjugate(first) : first;
    arguments.r.data[r_offset + mirror * arguments.r_step] = arguments.conjugate != 0u ? vx_conjugate(last) : last;
}
