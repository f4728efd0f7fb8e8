// Rare operands, for which a function takes another way, after the usual one. It does so at once, unless the kernel defers them: then
// there are no branches, nothing is kept in registers for them, and the kernel comes back to all elements of an invocation if
// one of them was deferred.
#ifndef LIB_RARE
#define LIB_RARE

bool vx_defers = false;
bool vx_deferred = false;

// Whether to see to a rare operand now.
bool vx_now(bool rare) {
    vx_deferred = vx_deferred || (rare && vx_defers);
    return rare && !vx_defers;
}

#endif
