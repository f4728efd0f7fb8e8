#ifndef LIB_ELEMENT
#define LIB_ELEMENT

// An element of ELEMENT_BYTES bytes that is moved, never computed with: one kernel for all dtypes of a size.
#if ELEMENT_BYTES == 1
#define ELEMENT_STORAGE uint8_t
#define ELEMENT uint
#elif ELEMENT_BYTES == 2
#define ELEMENT_STORAGE uint16_t
#define ELEMENT uint
#elif ELEMENT_BYTES == 4
#define ELEMENT_STORAGE uint
#define ELEMENT uint
#elif ELEMENT_BYTES == 8
#define ELEMENT_STORAGE uvec2
#define ELEMENT uvec2
#else
#define ELEMENT_STORAGE uvec4
#define ELEMENT uvec4
#endif

layout(buffer_reference, scalar, buffer_reference_align = ELEMENT_BYTES) buffer Elements { ELEMENT_STORAGE data[]; };

#endif
