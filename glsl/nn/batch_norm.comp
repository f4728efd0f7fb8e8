// r = (x - mean) / sqrt(variance + epsilon) * weight + bias, with numbers of each channel, for x of (batch, channels, plane) in
// C order. An invocation takes PACKS packs of VECTOR neighbours, a workgroup apart.
//
// Without a define, means and variances are known, as models have them after training. OF_BATCH: they are those of x, in pairs;
// the first invocations store them, and move running ones towards them. BACKWARD: r is the gradient of x of the gradient g, by
// the sums over what has one mean; the first invocations store these as the gradients of weight and bias. Both have a mean for
// each channel, or GROUPED for every so many neighbouring planes.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#ifdef HARDWARE_HALF
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif
#include "lib/dtypes.glsl"
#include "lib/rows.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool PACKED = false;  // all arrays begin at multiples of a pack
layout(constant_id = 2) const bool WITHIN = false;  // planes are whole packs, so that a pack has one channel
layout(constant_id = 3) const bool WEIGHT = true;
layout(constant_id = 4) const bool BIAS = true;
layout(constant_id = 5) const bool RUNNING_MEAN = false;
layout(constant_id = 6) const bool RUNNING_VARIANCE = false;
layout(constant_id = 7) const bool GROUPED = false;
layout(constant_id = 8) const bool LEARNT = false;  // BACKWARD: means and deviations do not depend on x

#define EACH [[unroll]] for (uint k = 0u; k < uint(VECTOR); ++k)

layout(buffer_reference, scalar) buffer Elements { A_STORAGE data[]; };
layout(buffer_reference, scalar) readonly buffer Numbers { B_STORAGE data[]; };
#if defined(OF_BATCH) || defined(BACKWARD)
layout(buffer_reference, scalar) buffer Reals { T data[]; };
layout(buffer_reference, scalar) buffer Running { B_STORAGE data[]; };
#endif

// A pack of a 16-bit type is moved as words.
#ifdef PER_WORD
struct Pack { uint word[VECTOR / PER_WORD]; };
#define VALUE_OF(PACK, K) A_UNPACK(PACK.word[(K) / uint(PER_WORD)], int((K) % uint(PER_WORD)))
#else
struct Pack { A_STORAGE element[VECTOR]; };
#define VALUE_OF(PACK, K) A_LOAD(PACK.element[K])
#endif
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Packs { Pack data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 x;
    uvec2 r;
    uvec2 mean;      // OF_BATCH: and variance, in pairs
    uvec2 variance;  // BACKWARD: 1 / standard deviation
    uvec2 weight;
    uvec2 bias;
    uvec2 epsilon;
    uint count;
    uint channels;
    uint plane;
#if defined(OF_BATCH) || defined(BACKWARD)
    uint statistics;  // that the first invocations store
    uint alike;       // GROUPED: planes that have one mean
    uvec2 factor;     // OF_BATCH: of the variance, for a running one; BACKWARD: -1 / elements that have one mean
#endif
#ifdef OF_BATCH
    uvec2 momentum;
    uvec2 running_mean;
    uvec2 running_variance;
    uvec2 used_mean;
    uvec2 used_rstd;
#endif
#ifdef BACKWARD
    uvec2 g;
    uvec2 gradients;  // sums
    uvec2 products;
    uvec2 of_weight;
    uvec2 of_bias;
#endif
} arguments;

#ifdef DOUBLE
#define NUMBER(NAME) packDouble2x32(arguments.NAME)
#else
#define NUMBER(NAME) uintBitsToFloat(arguments.NAME.x)
#endif

T mean = T(0), scale = T(1), shift;  // of the plane at hand
#ifdef BACKWARD
T slope = T(0);
#endif

// Take the numbers of a plane, which is one of a channel.
void take(uint plane, uint channel) {
#if defined(OF_BATCH) || defined(BACKWARD)
    uint place = GROUPED ? plane / arguments.alike : channel;
#endif
#ifdef BACKWARD
    T weight = WEIGHT ? B_LOAD(Numbers(arguments.weight).data[channel]) : T(1);
    T rstd = Reals(arguments.variance).data[place];
    precise T scaled = rstd * weight;
    scale = scaled;
    shift = T(0);
    if (!LEARNT) {
        mean = Reals(arguments.mean).data[place];
        T of_products = Reals(arguments.products).data[place], of_gradients = Reals(arguments.gradients).data[place];
        // Those of groups hold the weights of their channels.
        precise T each = (GROUPED ? rstd : scaled) * NUMBER(factor);
        precise T first = GROUPED ? each * of_products * rstd : each * rstd * of_products;
        precise T second = each * of_gradients;
        slope = first;
        shift = second;
    }
#else
#ifdef OF_BATCH
    mean = Reals(arguments.mean).data[2u * place];
    T variance = Reals(arguments.mean).data[2u * place + 1u];
#else
    mean = B_LOAD(Numbers(arguments.mean).data[channel]);
    T variance = B_LOAD(Numbers(arguments.variance).data[channel]);
#endif
    precise T root = vx_reciprocal_root(variance + NUMBER(epsilon));
    scale = root;
    if (WEIGHT) {
        precise T product = root * B_LOAD(Numbers(arguments.weight).data[channel]);
        scale = product;
    }
    shift = BIAS ? B_LOAD(Numbers(arguments.bias).data[channel]) : T(0);
#endif
}

#if defined(OF_BATCH) || defined(BACKWARD)
void store_statistics(uint place) {
#ifdef BACKWARD
    Reals(arguments.of_weight).data[place] = Reals(arguments.products).data[place];
    Reals(arguments.of_bias).data[place] = Reals(arguments.gradients).data[place];
#else
    T own = Reals(arguments.mean).data[2u * place], variance = Reals(arguments.mean).data[2u * place + 1u];
    precise T root = vx_reciprocal_root(variance + NUMBER(epsilon));
    Reals(arguments.used_mean).data[place] = own;
    Reals(arguments.used_rstd).data[place] = root;
    T momentum = NUMBER(momentum);
    if (RUNNING_MEAN) {
        precise T moved = (T(1) - momentum) * B_LOAD(Running(arguments.running_mean).data[place]) + momentum * own;
        Running(arguments.running_mean).data[place] = B_STORE(moved);
    }
    if (RUNNING_VARIANCE) {
        precise T whole = variance * NUMBER(factor);
        precise T moved = (T(1) - momentum) * B_LOAD(Running(arguments.running_variance).data[place]) + momentum * whole;
        Running(arguments.running_variance).data[place] = B_STORE(moved);
    }
#endif
}
#endif

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
#if defined(OF_BATCH) || defined(BACKWARD)
    uint place = group * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (place < arguments.statistics) store_statistics(place);
#endif
    for (uint p = 0u; p < uint(PACKS); ++p) {
        uint pack = (group * uint(PACKS) + p) * gl_WorkGroupSize.x + gl_LocalInvocationIndex, first = pack * uint(VECTOR);
        if (first >= arguments.count) return;
        bool whole = PACKED && (WITHIN || first + uint(VECTOR) <= arguments.count);
        T values[VECTOR];
#ifdef BACKWARD
        T gradients[VECTOR];
#endif
        if (whole) {
            Pack own = Packs(arguments.x).data[pack];
            EACH values[k] = VALUE_OF(own, k);
#ifdef BACKWARD
            Pack given = Packs(arguments.g).data[pack];
            EACH gradients[k] = VALUE_OF(given, k);
#endif
        } else {
            EACH values[k] = A_LOAD(Elements(arguments.x).data[min(first + k, arguments.count - 1u)]);
#ifdef BACKWARD
            EACH gradients[k] = A_LOAD(Elements(arguments.g).data[min(first + k, arguments.count - 1u)]);
#endif
        }
        uint plane = first / arguments.plane, channel = plane % arguments.channels, end = (plane + 1u) * arguments.plane;
        take(plane, channel);
        EACH {
            if (!WITHIN && first + k == end) {
                channel = channel + 1u == arguments.channels ? 0u : channel + 1u;
                end += arguments.plane;
                take(++plane, channel);
            }
#ifdef BACKWARD
            precise T result = scale * gradients[k] + ((values[k] - mean) * slope + shift);
#else
            precise T result = (values[k] - mean) * scale + shift;
#endif
            values[k] = result;
        }
        if (whole) {
            Pack made;
#ifdef PER_WORD
            [[unroll]] for (uint w = 0u; w < uint(VECTOR / PER_WORD); ++w) {
                made.word[w] = A_BITS(values[2u * w]) | A_BITS(values[2u * w + 1u]) << 16;
            }
#else
            EACH made.element[k] = A_STORE(values[k]);
#endif
            Packs(arguments.r).data[pack] = made;
        } else {
            EACH if (first + k < arguments.count) Elements(arguments.r).data[first + k] = A_STORE(values[k]);
        }
    }
}
