#ifndef LIB_SELECTION
#define LIB_SELECTION

#include "lib/address.glsl"
#include "lib/element.glsl"
#include "lib/status.glsl"

// Where the elements of an indexed array lie: what gather reads and scatter writes. The other side is "dense": an array
// of the shape of the selection.
//
// INDEX is int or, with INDEX64, int64_t: the type of index arrays and of offsets in the indexed array.
// The table in the arguments holds
//   the sizes of all dimensions, the strides of the indexed array (0 along dimensions of the index arrays), the dense strides,
//   and for each index array: address, length of the axis, step of the axis (two words each), number of the axis, strides.
#ifdef INDEX64
#define INDEX int64_t
#define INDEX_BYTES 8
#else
#define INDEX int
#define INDEX_BYTES 4
#endif

#define TABLE_WORDS 4000  // 64 index arrays of all dimensions that the elements of a dispatch can have
#define INDEX_HEADER 7u

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Indices { INDEX data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 indexed;
    uvec2 dense;
    Status status;
    uint count;
    uint rank;
    uint arrays;  // of indices
    int code;     // of the error for an index out of range
    uint wraps;   // whether negative indices count from the end
#ifdef SCATTER
    uint later;   // so many elements on, indices may name the same element again; 0: which of them counts does not matter
#endif
#ifdef LINKED
    Addends bias, residual;  // what else the expression takes: over and over where they have fewer elements
    uint bias_count, residual_count;
    uvec2 inputs[8];  // its numbers, in their places
#endif
    int table[TABLE_WORDS];
} arguments;

// The rank and, from bit 8 on, the number of index arrays of a common case, which has a pipeline of its own; 0: any case.
layout(constant_id = 1) const uint COMMON = 0u;

uint vx_rank() { return COMMON != 0u ? COMMON & 0xFFu : arguments.rank; }
uint vx_index_arrays() { return COMMON != 0u ? COMMON >> 8 : arguments.arrays; }

INDEX vx_wide_word(uint place) {
#ifdef INDEX64
    return INDEX(packUint2x32(uvec2(arguments.table[place], arguments.table[place + 1u])));
#else
    return arguments.table[place];
#endif
}

// Notes an index that is out of range, for the host to raise an error when it next reads a value.
void vx_note_out_of_range(INDEX index, INDEX length, int axis) {
#ifdef INDEX64
    ivec2 high = ivec2(int(index >> 32), int(length >> 32));
#else
    ivec2 high = ivec2(index >> 31, 0);
#endif
    vx_note(arguments.status, arguments.code, axis, ivec2(int(index), high.x), ivec2(int(length), high.y));
}

// The offsets of one element of the selection in both arrays; false when an index is out of range.
bool vx_locate(uint element, out INDEX indexed, out int dense) {
    uint rank = vx_rank();
    indexed = INDEX(0);
    dense = 0;
    for (uint array = 0u; array < vx_index_arrays(); ++array) {
        uint header = 3u * rank + array * (INDEX_HEADER + rank);
        uint rest = element;
        int place = 0;
        for (int axis = int(rank) - 1; axis >= 0; --axis) {
            int position = int(rest);
            if (axis > 0) {
                uint size = uint(arguments.table[axis]);
                uint quotient = rest / size;
                position = int(rest - quotient * size);
                rest = quotient;
            }
            if (array == 0u) {
                indexed += INDEX(position * arguments.table[rank + uint(axis)]);
                dense += position * arguments.table[2u * rank + uint(axis)];
            }
            place += position * arguments.table[header + INDEX_HEADER + uint(axis)];
        }
        INDEX index = Indices(vx_address(uvec2(arguments.table[header], arguments.table[header + 1u]), place, INDEX_BYTES)).data[0];
        INDEX length = vx_wide_word(header + 2u);
        INDEX lowest = arguments.wraps != 0u ? -length : INDEX(0);
        if (index < lowest || index >= length) {
            vx_note_out_of_range(index, length, arguments.table[header + 6u]);
            return false;
        }
        indexed += (index < INDEX(0) ? index + length : index) * vx_wide_word(header + 4u);
    }
    return true;
}

#ifdef INDEX64
#define INDEXED_ADDRESS(OFFSET) unpackUint2x32(packUint2x32(arguments.indexed) + uint64_t(OFFSET) * uint64_t(ELEMENT_BYTES))
#else
#define INDEXED_ADDRESS(OFFSET) vx_address(arguments.indexed, OFFSET, ELEMENT_BYTES)
#endif
#define INDEXED(OFFSET) Elements(INDEXED_ADDRESS(OFFSET)).data[0]
#define DENSE(OFFSET) Elements(vx_address(arguments.dense, OFFSET, ELEMENT_BYTES)).data[0]

#endif
