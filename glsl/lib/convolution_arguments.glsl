#ifndef LIB_CONVOLUTION_ARGUMENTS
#define LIB_CONVOLUTION_ARGUMENTS

// The arguments of convolutions that add directly, from `a` to `r`.
layout(local_size_x_id = 0) in;
layout(constant_id = 2) const bool BIAS = false;

layout(buffer_reference, scalar) readonly buffer AElements { A_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer RElements { A_STORAGE data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
#ifdef TEXELS
    int a, weight;  // the element of what is bound from which places count
    int a_last, weight_last;  // the last texels
#else
    AElements a;
    AElements weight;
#endif
    AElements bias;
    RElements r;
    uint count;     // invocations
    uint channels;  // of r
    uint from, to;  // channels of a and of r in a group
    int weight_from, weight_to;  // strides of the weight along channels of a and channels of r in a group; taps are neighbours
    int weight_group;
    int bias_step;
    int words[WINDOW_WORDS];
} arguments;

// Where one channel of r in one element of the batch begins, and what it is made from.
struct Channel { int from, weights, bias, r; };

Channel vx_channel(uint plane) {
    uint n = plane / arguments.channels, channel = plane - n * arguments.channels, group = channel / arguments.to;
    return Channel(int(n) * BATCH_STRIDE(0) + int(group * arguments.from) * CHANNEL_STRIDE(0),
                   int(group) * arguments.weight_group + int(channel - group * arguments.to) * arguments.weight_to,
                   int(channel) * arguments.bias_step,
                   int(n) * BATCH_STRIDE(1) + int(channel) * CHANNEL_STRIDE(1));
}

#endif
