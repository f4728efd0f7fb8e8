#ifndef LIB_STATUS
#define LIB_STATUS

// Where kernels note the first wrong value that they meet, for the host to raise an error when it next reads one:
// the code of the fault, an axis, the value and a length (two words each, low first).
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Status { int data[6]; };

void vx_note(Status status, int code, int axis, ivec2 value, ivec2 length) {
    if (atomicCompSwap(status.data[0], 0, code) == 0) {
        status.data[1] = axis;
        status.data[2] = value.x;
        status.data[3] = value.y;
        status.data[4] = length.x;
        status.data[5] = length.y;
    }
}

#endif
