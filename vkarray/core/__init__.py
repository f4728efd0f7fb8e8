"""The array and what it is made of: types, promotion, shapes and strides. Nothing here knows an operation."""
