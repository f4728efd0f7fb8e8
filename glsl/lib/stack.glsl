#ifndef LIB_STACK
#define LIB_STACK

// A stack of products: dimensions of any number and strides, of which the first one cuts the summed dimension into
// parts. The template's arguments end with `rank` and `layout_`: the sizes of all dimensions, 64 at most, then their strides
// in a, b, r and what lib/epilogue.glsl adds, and last the steps of that along the rows and columns of a matrix.

int layout_at(uint row, uint axis) { return arguments.layout_[row * arguments.rank + axis]; }

struct Place { int a, b, r, part, bias, residual; };

// Where the product with this number begins in the operands, and which part of the sum it is.
Place vx_place(uint index) {
    Place place = Place(0, 0, 0, 0, 0, 0);
    for (int axis = int(arguments.rank) - 1; axis >= 0; --axis) {
        int position = int(index);
        if (axis > 0) {
            uint size = uint(layout_at(0u, uint(axis)));
            uint quotient = index / size;
            position = int(index - quotient * size);
            index = quotient;
        }
        place.a += position * layout_at(1u, uint(axis));
        place.b += position * layout_at(2u, uint(axis));
        place.r += position * layout_at(3u, uint(axis));
        if (BIASED) place.bias += position * layout_at(4u, uint(axis));
        if (RESIDUAL) place.residual += position * layout_at(BIASED ? 5u : 4u, uint(axis));
        if (axis == 0) place.part = position;
    }
    return place;
}

// The steps of what is added, along rows and columns, and its element beside a row and column of r.
ivec2 vx_steps(uint first) { return ivec2(arguments.layout_[first], arguments.layout_[first + 1u]); }
ivec2 vx_bias_steps() { return BIASED ? vx_steps(arguments.rank * (RESIDUAL ? 6u : 5u)) : ivec2(0); }
ivec2 vx_residual_steps() { return RESIDUAL ? vx_steps(arguments.rank * (BIASED ? 6u : 5u) + (BIASED ? 2u : 0u)) : ivec2(0); }
int vx_beside(int first, ivec2 steps, int row, int column) { return first + row * steps.x + column * steps.y; }

// To be linked: an element becomes what an expression makes of it, of the bias and of the residual.
uvec2 input_at(uint number) { return arguments.inputs[number]; }
void vx_linked(inout T value, T bias, T residual) { input_at(0u); }

// An element of a product as it is to be stored: with the bias and the residual at these places.
T vx_finish(T value, int bias, int residual) {
    if (LINKED) {
        T first = T(0), second = T(0);
        if (BIASED) first = R_LOAD(arguments.bias.data[bias]);
        if (RESIDUAL) second = R_LOAD(arguments.residual.data[residual]);
        if (WIDE) {
            precise T sum = value + first;
            value = sum;
        }
        value = R_LOAD(R_STORE(value));
        vx_linked(value, first, second);
        return value;
    }
    if (BIASED) {
        if (!WIDE) value = R_LOAD(R_STORE(value));
        precise T sum = value + R_LOAD(arguments.bias.data[bias]);
        value = sum;
    }
    if (RESIDUAL) {
        precise T sum = R_LOAD(R_STORE(value)) + R_LOAD(arguments.residual.data[residual]);
        value = sum;
    }
    return value;
}

#endif
