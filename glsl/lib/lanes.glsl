#ifndef LIB_LANES
#define LIB_LANES
#extension GL_KHR_shader_subgroup_ballot : require

// How many invocations of a subgroup run here. gl_SubgroupSize may say more: Mesa's compiler for Intel's GPUs takes it for a
// constant, 32, while 8 or 16 invocations run.
uint vx_lanes() { return subgroupBallotBitCount(subgroupBallot(true)); }

#endif
