#ifndef LIB_SORT_ORDER
#define LIB_SORT_ORDER
#extension GL_EXT_control_flow_attributes : require
#include "lib/sort_key.glsl"

// A key as signed words, which CPUs compare at once: the class of a complex number and the words, the highest first.
#if ELEMENT_BYTES <= 4
const uint KEY_WORDS = 1u;
#elif ELEMENT_BYTES == 8
const uint KEY_WORDS = 3u;
#else
const uint KEY_WORDS = 5u;
#endif
struct Key { int words[KEY_WORDS]; };

int vx_signed(uint word) { return int(word ^ 0x80000000u); }

Key vx_last_key() {
    Key key;
    [[unroll]] for (uint word = 0u; word < KEY_WORDS; ++word) key.words[word] = 0x7FFFFFFF;
    return key;
}

Key vx_key_of(ELEMENT element) {
    Key key;
#if ELEMENT_BYTES <= 4
    key.words[0] = vx_signed(vx_key(element));
#else
#if ELEMENT_BYTES == 8
    uvec2 parts = COMPLEX ? uvec2(vx_key(element.y), vx_key(element.x)) : vx_key(element);
    bool real = parts.y == 0xFFFFFFFFu, imaginary = parts.x == 0xFFFFFFFFu;
    key.words[1] = vx_signed(parts.y);
    key.words[2] = vx_signed(parts.x);
#else
    uvec2 high = vx_key(element.xy), low = vx_key(element.zw);
    bool real = high == uvec2(0xFFFFFFFFu), imaginary = low == uvec2(0xFFFFFFFFu);
    key.words[1] = vx_signed(high.y);
    key.words[2] = vx_signed(high.x);
    key.words[3] = vx_signed(low.y);
    key.words[4] = vx_signed(low.x);
#endif
    key.words[0] = COMPLEX ? int(real) << 1 | int(imaginary) : 0;
#endif
    return key;
}

// Whether the element of a key comes before that of another.
bool vx_precedes(Key one, Key other) {
    bool result = one.words[KEY_WORDS - 1u] < other.words[KEY_WORDS - 1u];
#if ELEMENT_BYTES > 4
    [[unroll]] for (uint place = 2u; place <= KEY_WORDS; ++place) {
        uint word = KEY_WORDS - place;
        bool less = one.words[word] < other.words[word], same = one.words[word] == other.words[word];
        if (word > 0u || COMPLEX) result = less || same && result;
    }
#endif
    return result;
}

#endif
