#ifndef LIB_SELECTION
#define LIB_SELECTION

#include "lib/address.glsl"
#include "lib/element.glsl"
#include "lib/status.glsl"

// Where the elements of an indexed array lie: what gather reads and scatter writes. The other side is "dense": an array
// of the shape of the selection.
//
// INDEX is int or, with INDEX64, int64_t: the type of index arrays and of offsets in the indexed array.
// The table in the arguments (or the buffer whose address stands there, when it is too long) holds
//   the sizes of all dimensions, the strides of the indexed array (0 along dimensions of the index arrays), the dense strides,
//   and for each index array: address, length of the axis, step of the axis (two words each), number of the axis, strides.
#ifdef INDEX64
#define INDEX int64_t
#define INDEX_BYTES 8
#else
#define INDEX int
#define INDEX_BYTES 4
#endif

#define TABLE_WORDS 24
#define INDEX_HEADER 7u

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Table { int data[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Indices { INDEX data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 indexed;
    uvec2 dense;
    Status status;
    uint count;
    uint packed;  // rank and number of index arrays, 8 bits each; 15 bits of code for errors; whether negative indices are errors
    int table[TABLE_WORDS];
} arguments;

// The rank and, from bit 8 on, the number of index arrays of a common case, which has a pipeline of its own; 0: any case.
layout(constant_id = 1) const uint COMMON = 0u;

uint vx_rank() { return COMMON != 0u ? COMMON & 0xFFu : arguments.packed & 0xFFu; }
uint vx_index_arrays() { return COMMON != 0u ? COMMON >> 8 : arguments.packed >> 8 & 0xFFu; }

int vx_word(uint place) {
    if (COMMON != 0u || 3u * vx_rank() + vx_index_arrays() * (INDEX_HEADER + vx_rank()) <= uint(TABLE_WORDS)) return arguments.table[place];
    return Table(uvec2(arguments.table[0], arguments.table[1])).data[place];
}

INDEX vx_wide_word(uint place) {
#ifdef INDEX64
    return INDEX(packUint2x32(uvec2(vx_word(place), vx_word(place + 1u))));
#else
    return vx_word(place);
#endif
}

// Notes an index that is out of range, for the host to raise an error when it next reads a value.
void vx_note_out_of_range(INDEX index, INDEX length, int axis) {
#ifdef INDEX64
    ivec2 high = ivec2(int(index >> 32), int(length >> 32));
#else
    ivec2 high = ivec2(index >> 31, 0);
#endif
    vx_note(arguments.status, int(arguments.packed >> 16 & 0x7FFFu), axis, ivec2(int(index), high.x), ivec2(int(length), high.y));
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
                uint size = uint(vx_word(uint(axis)));
                uint quotient = rest / size;
                position = int(rest - quotient * size);
                rest = quotient;
            }
            if (array == 0u) {
                indexed += INDEX(position * vx_word(rank + uint(axis)));
                dense += position * vx_word(2u * rank + uint(axis));
            }
            place += position * vx_word(header + INDEX_HEADER + uint(axis));
        }
        INDEX index = Indices(vx_address(uvec2(vx_word(header), vx_word(header + 1u)), place, INDEX_BYTES)).data[0];
        INDEX length = vx_wide_word(header + 2u);
        INDEX lowest = (arguments.packed & 0x80000000u) != 0u ? INDEX(0) : -length;
        if (index < lowest || index >= length) {
            vx_note_out_of_range(index, length, vx_word(header + 6u));
            return false;
        }
        indexed += (index < INDEX(0) ? index + length : index) * vx_wide_word(header + 4u);
    }
    return true;
}

#ifdef INDEX64
#define INDEXED(OFFSET) Elements(unpackUint2x32(packUint2x32(arguments.indexed) + uint64_t(OFFSET) * uint64_t(ELEMENT_BYTES))).data[0]
#else
#define INDEXED(OFFSET) Elements(vx_address(arguments.indexed, OFFSET, ELEMENT_BYTES)).data[0]
#endif
#define DENSE(OFFSET) Elements(vx_address(arguments.dense, OFFSET, ELEMENT_BYTES)).data[0]

#endif
