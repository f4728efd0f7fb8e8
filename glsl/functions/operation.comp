// The function of an elementwise operation, with which kernels are linked (vkarray/kernels/operation.py): R = EXPRESSION of the
// elements a, b, c of the inputs and of the place of the element in C order, `index`. EACH_INPUT(DO) is DO of each input.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#include "lib/coefficients.glsl"
#ifdef APPROXIMATE
#include "lib/approximate.glsl"
#endif
#include LIBRARY

#define PARAMETER(NAME, VARIABLE, NUMBER) , NAME##_COMPUTE VARIABLE
void evaluate(uint index EACH_INPUT(PARAMETER), out R_COMPUTE r) {
    precise R_COMPUTE result = EXPRESSION;
    r = result;
}

// PARTS: a function of one operand that the library has in parts (VX_OF_PARTS). Four elements take one branch, and what comes
// before it can be computed side by side. They go through what is rare in a loop, which is short to compile and to fetch.
#ifdef PARTS
#define JOIN_(FIRST, SECOND) FIRST##SECOND
#define JOIN(FIRST, SECOND) JOIN_(FIRST, SECOND)
#define PART(NAME) JOIN(PARTS, NAME)
#define EACH_OF_PACK(DO) DO(0) DO(1) DO(2) DO(3)
void evaluate_pack(A_COMPUTE a[4], out R_COMPUTE r[4]) {
#define USUAL(K) precise R_COMPUTE r##K = PART(_usual)(a[K]);
    EACH_OF_PACK(USUAL)
#define IS_RARE(K) bool is_rare##K = PART(_is_rare)(a[K]);
    EACH_OF_PACK(IS_RARE)
    if (is_rare0 || is_rare1 || is_rare2 || is_rare3) {
        [[dont_unroll]] for (int k = 0; k < 4; ++k) {
            A_COMPUTE x = k < 2 ? (k < 1 ? a[0] : a[1]) : (k < 3 ? a[2] : a[3]);
            if (PART(_is_rare)(x)) {
                R_COMPUTE y = PART(_rare)(x);
#define TAKE(K) r##K = k == K ? y : r##K;
                EACH_OF_PACK(TAKE)
            }
        }
    }
#define GIVE(K) r[K] = r##K;
    EACH_OF_PACK(GIVE)
}
#endif

// The compiler drops functions that nothing calls.
#define DECLARE(NAME, VARIABLE, NUMBER) NAME##_COMPUTE VARIABLE;
#define ARGUMENT(NAME, VARIABLE, NUMBER) , VARIABLE
void main() {
    EACH_INPUT(DECLARE)
    R_COMPUTE r;
    evaluate(0u EACH_INPUT(ARGUMENT), r);
#ifdef PARTS
    A_COMPUTE several[4];
    R_COMPUTE results[4];
    evaluate_pack(several, results);
#endif
}
