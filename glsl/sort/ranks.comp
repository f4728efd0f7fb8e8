// Stable sort of short rows: one invocation for a row, and no memory but for the elements. An element goes where its rank says:
// the count of elements that come before it, by their keys or, where these are equal, by their places.
#include "lib/extensions.glsl"
#include "lib/sort_order.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 7) const uint LENGTH = 0u;         // of rows, where the code is for that many elements
layout(constant_id = 8) const uint HELD = 1u;           // elements that are compared at once, of a row in turn
layout(constant_id = 9) const bool INDICES = false;     // whether the places in the row that elements come from are written, too

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint data[]; };

// Addresses are pairs of words: SwiftShader crashes on variables that hold buffer references.
layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 source;
    uvec2 target;
    uvec2 target_indices;
    uint rows;
    uint row_length;
} arguments;

#define COUNT (LENGTH > 0u ? LENGTH : arguments.row_length)
#define EACH [[unroll]] for (uint k = 0u; k < HELD; ++k)

ELEMENT element_at(uint place) { return ELEMENT(Elements(arguments.source).data[place]); }

void main() {
    uint row = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (row >= arguments.rows) return;
    uint first = row * COUNT;
    for (uint start = 0u; start < COUNT; start += HELD) {
        ELEMENT elements[HELD];
        Key keys[HELD];
        uint ranks[HELD];
        // Beyond the end of the row lies what comes before nothing.
        EACH {
            elements[k] = element_at(first + min(start + k, COUNT - 1u));
            keys[k] = start + k < COUNT ? vx_key_of(elements[k]) : vx_last_key();
            ranks[k] = start + k;
        }
        // Both loops have constant bounds: drivers unroll no loop around one that they cannot.
        [[unroll]] for (uint j = 1u; j < HELD; ++j) {
            EACH if (k < j) {
                uint moves = uint(vx_precedes(keys[j], keys[k]));
                ranks[k] += moves;
                ranks[j] -= moves;
            }
        }
        for (uint other = 0u; other < start; ++other) {
            Key key = vx_key_of(element_at(first + other));
            EACH ranks[k] -= uint(vx_precedes(keys[k], key));
        }
        for (uint other = start + HELD; other < COUNT; ++other) {
            Key key = vx_key_of(element_at(first + other));
            EACH ranks[k] += uint(vx_precedes(key, keys[k]));
        }
        if (LENGTH > 0u) {
            EACH {
                if (start + k < COUNT) {
                    Elements(arguments.target).data[first + ranks[k]] = ELEMENT_STORAGE(elements[k]);
                    if (INDICES) Words(arguments.target_indices).data[first + ranks[k]] = start + k;
                }
            }
        } else {
            // Stores take CPU drivers' compilers the longest, and few rows are not worth one for each element.
            uint end = min(start + HELD, COUNT);
            [[dont_unroll]] for (uint place = start; place < end; ++place) {
                uint rank = 0u;
                EACH rank = start + k == place ? ranks[k] : rank;
                Elements(arguments.target).data[first + rank] = ELEMENT_STORAGE(element_at(first + place));
                if (INDICES) Words(arguments.target_indices).data[first + rank] = place;
            }
        }
    }
}
