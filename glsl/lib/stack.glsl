#ifndef LIB_STACK
#define LIB_STACK

// A stack of products: dimensions of any number and strides, of which the first one cuts the summed dimension into
// parts. The template's arguments end with `rank` and `layout_`: the sizes of all dimensions, 64 at most, then their strides
// in a, b and r.

int layout_at(uint row, uint axis) { return arguments.layout_[row * arguments.rank + axis]; }

struct Place { int a, b, r, part; };

// Where the product with this number begins in the three operands, and which part of the sum it is.
Place vx_place(uint index) {
    Place place = Place(0, 0, 0, 0);
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
        if (axis == 0) place.part = position;
    }
    return place;
}

#endif
