#ifndef LIB_CONVOLUTION_WEIGHT
#define LIB_CONVOLUTION_WEIGHT

// Which sum of a gradient of a weight an invocation shares in, and the sum over those that share.
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint LANES = 1u;  // invocations that share a sum: 1 on CPU drivers, up to a workgroup on a GPU

layout(buffer_reference, scalar) readonly buffer AElements { A_STORAGE data[]; };
layout(buffer_reference, scalar) writeonly buffer RElements { R_STORAGE data[]; };

layout(set = 1, binding = 0, scalar) uniform Arguments {
    AElements x;
    AElements gradient;
    RElements r;
    uint count;        // sums, of all parts
    uint sums;         // of a part
    uint batch, part;  // elements of the batch, in all and in a part
    uint span;         // windows (or blocks of them) in a part
    uint from, to;     // channels of x and of the gradient in a group
    int words[WINDOW_WORDS];
} arguments;

shared T shared_[gl_WorkGroupSize.x];

// Elements of the batch from `first` on, and of each the windows from `window` on.
struct Sum { bool inside; uint index, lane, tap, m, c, first, end, window, last; };

Sum vx_sum_of_invocation(uint taps, uint windows) {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    Sum own;
    own.index = group * (gl_WorkGroupSize.x / LANES) + gl_LocalInvocationIndex / LANES;
    own.lane = gl_LocalInvocationIndex % LANES;
    own.inside = own.index < arguments.count;
    uint which = own.inside ? own.index : 0u;
    uint part = which / arguments.sums;
    uint rest = which - part * arguments.sums;
    own.tap = rest % taps;
    rest /= taps;
    own.m = rest / arguments.from;
    own.c = rest - own.m * arguments.from + own.m / arguments.to * arguments.from;
    uint spans = (windows + arguments.span - 1u) / arguments.span, images = part / spans;
    own.window = (part - images * spans) * arguments.span;
    own.last = min(own.window + arguments.span, windows);
    own.first = images * arguments.part;
    own.end = own.inside ? min(own.first + arguments.part, arguments.batch) : own.first;
    return own;
}

T vx_total(T sum, uint lane) {
    if (LANES > 1u) {
        barrier();
        shared_[gl_LocalInvocationIndex] = sum;
        barrier();
        for (uint half_ = LANES / 2u; half_ > 0u; half_ /= 2u) {
            if (lane < half_) shared_[gl_LocalInvocationIndex] += shared_[gl_LocalInvocationIndex + half_];
            barrier();
        }
        sum = shared_[gl_LocalInvocationIndex];
    }
    return sum;
}

#endif
