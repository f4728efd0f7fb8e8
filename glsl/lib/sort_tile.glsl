#ifndef LIB_SORT_TILE
#define LIB_SORT_TILE

// A stable radix sort of a tile of elements by one digit, by a workgroup. An invocation holds ITEMS elements; those of a
// subgroup lie together, one for each of its invocations and then the next ones.
//
// A subgroup finds the invocations that have the same digit by votes on its bits, and counts digits in shared memory; sums
// over the subgroups and the digits then give each element its rank (Adinets and Merrill, Onesweep, 2022, section 4.3).
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_memory_scope_semantics : require
#include "lib/sort_key.glsl"
#include "lib/workgroup_scan.glsl"

layout(constant_id = 8) const uint ITEMS = 1u;  // elements of an invocation
layout(constant_id = 11) const uint LANES = 128u;  // invocations of a subgroup, at most

// The words of a ballot that a subgroup can have: drivers leave out what is known to be zero.
#define BALLOT_MASK uvec4(~0u, LANES > 32u ? ~0u : 0u, LANES > 64u ? ~0u : 0u, LANES > 64u ? ~0u : 0u)

const uint TILE = gl_WorkGroupSize.x * ITEMS;
const uint OWN = BINS > gl_WorkGroupSize.x ? BINS / gl_WorkGroupSize.x : 1u;  // digits that an invocation looks after

#define EACH_ITEM [[unroll]] for (uint i = 0u; i < ITEMS; ++i)
#define EACH_OWN_DIGIT [[unroll]] for (uint k = 0u; k < OWN; ++k)

#if ELEMENT_BYTES <= 4
const uint WORDS = 1u;
#define WORD_OF(element, word) element
#else
const uint WORDS = ELEMENT_BYTES / 4;
#define WORD_OF(element, word) element[word]
#endif

const uint COUNTERS = SUBGROUPS * BINS;
// The counters of each subgroup, then the elements or indices, word by word.
shared uint exchange[COUNTERS > TILE * WORDS ? COUNTERS : TILE * WORDS];
shared uint starts[BINS];  // the rank of the first element of each digit

ELEMENT element[ITEMS];
uint index[ITEMS];
uint rank[ITEMS];

// The place in the tile of the first element of an invocation; its others follow at distances of vx_lanes().
uint vx_first_place() { return vx_member() + gl_SubgroupID * vx_lanes() * (ITEMS - 1u); }

// Shared memory as the other invocations of the subgroup have left it, and no other: that is cheap.
void vx_subgroup_barrier() {
    controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}

// `rank` holds digits, and then the ranks of the elements. `beside` holds numbers for the own digits of each invocation,
// and then the sum of those of all lower digits.
void vx_rank(inout uint beside[OWN]) {
    uint member = vx_member();
    for (uint at = member; at < COUNTERS; at += gl_WorkGroupSize.x) exchange[at] = 0u;
    barrier();
    uint counters = gl_SubgroupID * BINS;
    EACH_ITEM {
        uint digit = rank[i];
        uvec4 peers = subgroupBallot(true) & BALLOT_MASK;
        [[unroll]] for (uint bit = 0u; bit < DIGIT_BITS; ++bit) {
            bool is_set = (digit >> bit & 1u) != 0u;
            uvec4 votes = subgroupBallot(is_set);
            peers &= is_set ? votes : ~votes;
        }
        uint before = exchange[counters + digit];
        uint among = subgroupBallotExclusiveBitCount(peers);
        vx_subgroup_barrier();
        if (among == 0u) exchange[counters + digit] = before + subgroupBallotBitCount(peers);
        vx_subgroup_barrier();
        rank[i] = digit << 16 | before + among;
    }
    barrier();
    uvec2 sums[OWN], sum = uvec2(0u), total;
    EACH_OWN_DIGIT {
        uint digit = member * OWN + k, count = 0u;
        if (digit < BINS) {
            [[unroll]] for (uint subgroup = 0u; subgroup < SUBGROUPS; ++subgroup) {
                uint more = exchange[subgroup * BINS + digit];
                exchange[subgroup * BINS + digit] = count;
                count += more;
            }
        }
        sums[k] = sum;
        sum += uvec2(count, beside[k]);
    }
    uvec2 running = vx_running_sum(sum, total);
    EACH_OWN_DIGIT {
        uint digit = member * OWN + k;
        if (digit < BINS) starts[digit] = running.x + sums[k].x;
        beside[k] = running.y + sums[k].y;
    }
    barrier();
    EACH_ITEM {
        uint digit = rank[i] >> 16;
        rank[i] = (rank[i] & 0xFFFFu) + exchange[counters + digit] + starts[digit];
    }
    barrier();
}

// Elements go where their ranks say.
void vx_exchange_elements(uint first, uint lanes) {
    EACH_ITEM {
        [[unroll]] for (uint word = 0u; word < WORDS; ++word) exchange[word * TILE + rank[i]] = WORD_OF(element[i], word);
    }
    barrier();
    EACH_ITEM {
        [[unroll]] for (uint word = 0u; word < WORDS; ++word) {
            WORD_OF(element[i], word) = exchange[word * TILE + first + i * lanes];
        }
    }
    barrier();
}

void vx_exchange_indices(uint first, uint lanes) {
    EACH_ITEM exchange[rank[i]] = index[i];
    barrier();
    EACH_ITEM index[i] = exchange[first + i * lanes];
    barrier();
}

#endif
