// The elements that go to one place, joined: values in the order of sorted keys, REACH of them one after the other, then REACH
// of these, and so on. This order depends on the places alone, never on the device.
//
// A piece begins at a multiple of `span` and where the key changes. The dispatch of a level joins the pieces of the level
// before, at multiples of `span` / REACH, and leaves each result where its piece begins; with LAST, in the target.
#include "lib/extensions.glsl"
#include "lib/dtypes.glsl"
#include LIBRARY

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool FIRST = true;
layout(constant_id = 2) const bool LAST = true;
layout(constant_id = 3) const bool WITH_TARGET = true;  // the element of the target is joined too, before all others

#define REACH 32u

layout(buffer_reference, scalar) readonly buffer Keys { int data[]; };
layout(buffer_reference, scalar) readonly buffer Places { uint data[]; };
layout(buffer_reference, scalar) readonly buffer Values { A_STORAGE data[]; };
layout(buffer_reference, scalar) buffer Pieces { P_STORAGE data[]; };
layout(buffer_reference, scalar) buffer Target { A_STORAGE data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 keys;    // sorted
    uvec2 places;  // of their values
    uvec2 values;
    uvec2 pieces;
    uvec2 target;
    uint count;    // of keys
    uint columns;  // of a value
    uint first;    // key of this dispatch
    uint keys_of_dispatch;
    uint span;     // REACH to the power of the level
} arguments;

T join(T a, T b) {
    precise T result = COMBINE;
    return result;
}

T value_at(uint key, uint column) {
    if (FIRST) return A_LOAD(Values(arguments.values).data[Places(arguments.places).data[key] * arguments.columns + column]);
    return P_LOAD(Pieces(arguments.pieces).data[key * arguments.columns + column]);
}

void main() {
    uint invocation = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint number = invocation / arguments.columns;
    uint column = invocation - number * arguments.columns;
    if (number >= arguments.keys_of_dispatch) return;
    uint begin = arguments.first + number;
    int key = Keys(arguments.keys).data[begin];
    bool starts = begin == 0u || Keys(arguments.keys).data[begin - 1u] != key;
    if (!starts && (LAST || begin % arguments.span != 0u)) return;
    uint step = FIRST ? 1u : arguments.span / REACH;
    uint end = arguments.count;
    end = min(end, (begin / arguments.span + 1u) * arguments.span);
    T total = value_at(begin, column);
    for (uint next = (begin / step + 1u) * step; next < end; next += step) {
        if (Keys(arguments.keys).data[next] != key) break;
        total = join(total, value_at(next, column));
    }
    if (LAST) {
        uint place = uint(key) * arguments.columns + column;
        if (WITH_TARGET) total = join(A_LOAD(Target(arguments.target).data[place]), total);
        Target(arguments.target).data[place] = A_STORE(total);
    } else {
        Pieces(arguments.pieces).data[begin * arguments.columns + column] = P_STORE(total);
    }
}
