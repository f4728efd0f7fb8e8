#ifndef LIB_FRAGMENT_WORDS
#define LIB_FRAGMENT_WORDS

// What an invocation keeps of a fragment, as words of two elements: by what it is alone, for only the driver knows which
// element of the fragment each of them is.
#ifdef BFLOAT16
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#define TWO bf16vec2
uint word_of(TWO two) { return pack32(bfloat16BitsToUintEXT(two)); }
TWO two_of(uint word) { return uintBitsToBFloat16EXT(unpack16(word)); }
#else
#define TWO f16vec2
uint word_of(TWO two) { return packFloat2x16(two); }
TWO two_of(uint word) { return unpackFloat2x16(word); }
#endif

#endif
