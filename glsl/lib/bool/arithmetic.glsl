#ifndef LIB_BOOL_ARITHMETIC
#define LIB_BOOL_ARITHMETIC

bool vx_multiply(bool a, bool b) { return a && b; }
bool vx_maximum(bool a, bool b) { return a || b; }
bool vx_minimum(bool a, bool b) { return a && b; }
bool vx_clip(bool x, bool low, bool high) { return (x || low) && high; }

#endif
