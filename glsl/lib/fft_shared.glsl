#ifndef LIB_FFT_SHARED
#define LIB_FFT_SHARED

// Lines that invocations of a workgroup share: MEMBERS of them a line, LINES lines a workgroup.
layout(constant_id = 4) const uint LENGTH = 1u;
layout(constant_id = 5) const uint MEMBERS = 1u;
layout(constant_id = 6) const uint LINES = 1u;
layout(constant_id = 7) const uint COLUMNS = 0u;  // on the way in and out: lines lie closer together than their elements

#define COLUMNS_IN 1u
#define COLUMNS_OUT 2u
#define FLAT 4u  // neither, and lines so short that they are better moved as one

// The number of an invocation among those of its line, and that of the line in the workgroup: neighbours take neighbours in
// memory, elements of a line or lines.
void find_member(uint columns, out uint member, out uint own) {
    uint local = gl_LocalInvocationIndex;
    member = columns != 0u ? local / LINES : local % MEMBERS;
    own = columns != 0u ? local % LINES : local / MEMBERS;
}

#endif
