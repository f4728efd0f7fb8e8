#ifndef LIB_COMPUTED
#define LIB_COMPUTED

// An input whose elements are computed where they are read, of any number of other arrays: `element` is linked
// (vkarray/kernels/prologue.py). The arguments of the template hold `inputs` (addresses, numbers, or where the places of elements
// begin), `axes` of the input, and `walk`: the sizes of these, 8 at most, and the strides of each operand that lies somewhere.
// ROW: there are no arguments, since a kernel of rows finds the operands.
#ifndef ROW
uvec2 input_at(uint number) { return arguments.inputs[number]; }

// Where an operand has an element.
uint place_of(uint operand, uint index) {
    int place = 0;
    for (int axis = int(arguments.axes) - 1; axis >= 0; --axis) {
        uint size = uint(arguments.walk[axis]);
        uint next = axis > 0 ? index / size : 0u;
        place += int(index - next * size) * arguments.walk[int(operand + 1u) * 8 + axis];
        index = next;
    }
    return uint(place);
}
#endif

// To be linked. The compiler drops functions that nothing calls.
void element(uint index, out A_COMPUTE value) {
#ifndef ROW
    input_at(0u);
    place_of(0u, 0u);
#endif
}

A_COMPUTE load_at(int place) {
    A_COMPUTE value;
    element(uint(place), value);
    return value;
}

#endif
