// The function of an elementwise operation, with which kernels are linked (vkarray/kernels/operation.py): R = EXPRESSION of the
// elements a, b, c of the inputs and of the place of the element in C order, `index`. EACH_INPUT(DO) is DO of each input.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/dtypes.glsl"
#include "lib/coefficients.glsl"
#include LIBRARY

#define PARAMETER(NAME, VARIABLE, NUMBER) , NAME##_COMPUTE VARIABLE
void evaluate(uint index EACH_INPUT(PARAMETER), out R_COMPUTE r) {
    precise R_COMPUTE result = EXPRESSION;
    r = result;
}

// The compiler drops functions that nothing calls.
#define DECLARE(NAME, VARIABLE, NUMBER) NAME##_COMPUTE VARIABLE;
#define ARGUMENT(NAME, VARIABLE, NUMBER) , VARIABLE
void main() {
    EACH_INPUT(DECLARE)
    R_COMPUTE r;
    evaluate(0u EACH_INPUT(ARGUMENT), r);
}
