// A pack has the operand AS ELEMENTS, or, where these are no longer than a word, AS WORDS or PAIRS of words that hold PER_WORD
// elements each: CPU drivers move each member of a structure in a loop of its own. AS TEXELS it is bound besides, and packs of
// four elements of a word are read so, which these drivers do without a loop.
#define JOIN_(FIRST, SECOND) FIRST##SECOND
#define JOIN(FIRST, SECOND) JOIN_(FIRST, SECOND)
#define ELEMENTS_FIELD(NAME) NAME##_STORAGE element[VECTOR];
#define ELEMENTS_BINDING(NUMBER, VARIABLE)
#define ELEMENTS_GET(NAME, VARIABLE, PLACE) NAME##_LOAD(PACK(NAME, VARIABLE, PLACE).element[k])
#define ELEMENTS_PUT(NAME, PACK, VALUES) EACH PACK.element[k] = NAME##_STORE(VALUES[k]);
#define WORDS_FIELD(NAME) uint word[VECTOR / NAME##_PER_WORD];
#define WORDS_BINDING(NUMBER, VARIABLE)
#define WORDS_GET(NAME, VARIABLE, PLACE)                                                         \
    NAME##_UNPACK(PACK(NAME, VARIABLE, PLACE).word[k / NAME##_PER_WORD], k % NAME##_PER_WORD)
#define WORDS_PUT(NAME, PACK, VALUES)                                                            \
    [[unroll]] for (int w = 0; w < VECTOR / NAME##_PER_WORD; ++w) {                              \
        uint bits = 0u;                                                                          \
        [[unroll]] for (int k = 0; k < NAME##_PER_WORD; ++k) {                                   \
            bits |= NAME##_BITS(VALUES[w * NAME##_PER_WORD + k]) << (32 / NAME##_PER_WORD * k);  \
        }                                                                                        \
        PACK.word[w] = bits;                                                                     \
    }
#define PAIRS_FIELD(NAME) uint64_t pair[VECTOR / (2 * NAME##_PER_WORD)];
#define PAIRS_BINDING(NUMBER, VARIABLE)
#define PAIRS_GET(NAME, VARIABLE, PLACE)                                                         \
    NAME##_UNPACK(unpackUint2x32(PACK(NAME, VARIABLE, PLACE).pair[k / (2 * NAME##_PER_WORD)])[k / NAME##_PER_WORD % 2], \
                  k % NAME##_PER_WORD)
#define PAIRS_PUT(NAME, PACK, VALUES)                                                            \
    [[unroll]] for (int w = 0; w < VECTOR / (2 * NAME##_PER_WORD); ++w) {                        \
        uvec2 bits = uvec2(0u);                                                                  \
        [[unroll]] for (int k = 0; k < 2 * NAME##_PER_WORD; ++k) {                               \
            bits[k / NAME##_PER_WORD] |= NAME##_BITS(VALUES[w * 2 * NAME##_PER_WORD + k])        \
                << (32 / NAME##_PER_WORD * (k % NAME##_PER_WORD));                               \
        }                                                                                        \
        PACK.pair[w] = packUint2x32(bits);                                                       \
    }
#define TEXELS_FIELD(NAME) uint word[VECTOR];
#define TEXELS_BINDING(NUMBER, VARIABLE) layout(binding = NUMBER) uniform usamplerBuffer VARIABLE##_texels;
#define TEXELS_GET(NAME, VARIABLE, PLACE) NAME##_UNPACK(texelFetch(VARIABLE##_texels, int(PLACE))[k], 0)
#define PACK(NAME, VARIABLE, PLACE) NAME##Packs(arguments.VARIABLE).data[PLACE]
