#ifndef LIB_WORKGROUP_SCAN
#define LIB_WORKGROUP_SCAN
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "lib/lanes.glsl"

// Running sums over the invocations of a workgroup, in the order of their subgroups: all of a workgroup have as many invocations.
layout(constant_id = 7) const uint SUBGROUPS = 1u;  // of a workgroup, at most

shared uvec2 subgroup_sums[SUBGROUPS];

// The number of an invocation in its workgroup.
uint vx_member() { return gl_SubgroupID * vx_lanes() + gl_SubgroupInvocationID; }

// The sum of `own` over all invocations before this one, and over all of them. A barrier comes before the next call.
uvec2 vx_running_sum(uvec2 own, out uvec2 total) {
    uvec2 running = subgroupInclusiveAdd(own);
    if (gl_SubgroupInvocationID == vx_lanes() - 1u) subgroup_sums[gl_SubgroupID] = running;
    barrier();
    total = uvec2(0u);
    running -= own;
    for (uint subgroup = 0u; subgroup < gl_NumSubgroups; ++subgroup) {
        if (subgroup == gl_SubgroupID) running += total;
        total += subgroup_sums[subgroup];
    }
    return running;
}

#endif
