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

layout(push_constant, scalar) uniform Push {
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
} push;

T join(T a, T b) {
    precise T result = COMBINE;
    return result;
}

T value_at(uint key, uint column) {
    if (FIRST) return A_LOAD(Values(push.values).data[Places(push.places).data[key] * push.columns + column]);
    return P_LOAD(Pieces(push.pieces).data[key * push.columns + column]);
}

void main() {
    uint invocation = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    uint number = invocation / push.columns;
    uint column = invocation - number * push.columns;
    if (number >= push.keys_of_dispatch) return;
    uint begin = push.first + number;
    int key = Keys(push.keys).data[begin];
    bool starts = begin == 0u || Keys(push.keys).data[begin - 1u] != key;
    if (!starts && (LAST || begin % push.span != 0u)) return;
    uint step = FIRST ? 1u : push.span / REACH;
    uint end = push.count;
    end = min(end, (begin / push.span + 1u) * push.span);
    T total = value_at(begin, column);
    for (uint next = (begin / step + 1u) * step; next < end; next += step) {
        if (Keys(push.keys).data[next] != key) break;
        total = join(total, value_at(next, column));
    }
    if (LAST) {
        uint place = uint(key) * push.columns + column;
        if (WITH_TARGET) total = join(A_LOAD(Target(push.target).data[place]), total);
        Target(push.target).data[place] = A_STORE(total);
    } else {
        Pieces(push.pieces).data[begin * push.columns + column] = P_STORE(total);
    }
}
