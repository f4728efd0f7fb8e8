// Eigenvalues and eigenvectors of the small diagonal blocks from which the divide and conquer method starts, by implicit QL
// with Wilkinson's shifts (EISPACK's tql2). One invocation turns one row of a block's eigenvectors; all invocations of
// a block find the same rotations.
//
// Of each off-diagonal element e between blocks, |e| is taken off both of its neighbours on the diagonal (Cuppen): what
// is left is |e| u u^T with u = (0, ..., 0, 1, +-1, 0, ..., 0). Rows beyond n hold a number above all eigenvalues.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/tridiagonal.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool SHARED_VECTORS = false;  // three arrays of an invocation's own are more than some compilers keep

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 diagonal;     // (batch, n)
    uvec2 off_diagonal; // (batch, n)
    uvec2 values;       // (batch, blocks, leaf): ascending in each block
    uvec2 vectors;      // (batch, blocks, leaf, leaf)
    uvec2 norm;         // (batch): no eigenvalue is larger
    uvec2 state;        // (batch, 2): where failures are noted
    uint rows;          // batch * blocks * leaf
    uint n, blocks, leaf;
} arguments;

#define LEAF 32
#define SWEEPS 50

// The invocation's row of the eigenvectors.
REAL own_vectors[SHARED_VECTORS ? 1 : LEAF];
shared REAL shared_vectors[SHARED_VECTORS ? LEAF * gl_WorkGroupSize.x : 1];

uint shared_place(int i) { return uint(i) * gl_WorkGroupSize.x + gl_LocalInvocationIndex; }

REAL vector_at(int i) {
    if (SHARED_VECTORS) return shared_vectors[shared_place(i)];
    return own_vectors[i];
}

void set_vector(int i, REAL value) {
    if (SHARED_VECTORS) shared_vectors[shared_place(i)] = value;
    else own_vectors[i] = value;
}

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.rows) return;
    int leaf = int(arguments.leaf);
    uint block = index / arguments.leaf;
    int row = int(index - block * arguments.leaf);
    uint matrix = block / arguments.blocks;
    uint first = (block - matrix * arguments.blocks) * arguments.leaf;
    Reals diagonal = Reals(vx_address(arguments.diagonal, matrix, arguments.n));
    Reals off_diagonal = Reals(vx_address(arguments.off_diagonal, matrix, arguments.n));
    REAL norm = vx_tridiagonal_norm(diagonal, off_diagonal, arguments.n);
    precise REAL beyond = REAL(2) * norm + REAL(1);
    precise REAL negligible = EPSILON * EPSILON * norm;

    REAL d[LEAF], e[LEAF];
    for (int i = 0; i < leaf; ++i) {
        uint place = first + uint(i);
        precise REAL value = place < arguments.n ? diagonal.data[place] : beyond;
        if (i == 0 && place > 0u && place < arguments.n) value = value - abs(off_diagonal.data[place - 1u]);
        bool last = i == leaf - 1;
        if (last && place + 1u < arguments.n) value = value - abs(off_diagonal.data[place]);
        d[i] = value;
        e[i] = last || place + 1u >= arguments.n ? REAL(0) : off_diagonal.data[place];
        set_vector(i, REAL(i == row ? 1 : 0));
    }

    bool failed = false;
    for (int l = 0; l < leaf; ++l) {
        for (int sweep = 0; sweep <= SWEEPS; ++sweep) {
            int m = l;
            for (; m < leaf - 1; ++m) {
                precise REAL size = EPSILON * REAL(0.5) * (abs(d[m]) + abs(d[m + 1])) + negligible;
                if (abs(e[m]) <= size) break;
            }
            if (m == l) break;
            if (sweep == SWEEPS) {
                failed = true;
                break;
            }
            precise REAL g = (d[l + 1] - d[l]) / (REAL(2) * e[l]);
            precise REAL r = vx_length(g, REAL(1));
            g = d[m] - d[l] + e[l] / (g + (g < REAL(0) ? -r : r));
            precise REAL s = REAL(1), c = REAL(1), p = REAL(0);
            int i = m - 1;
            for (; i >= l; --i) {
                precise REAL f = s * e[i];
                precise REAL b = c * e[i];
                r = vx_length(f, g);
                e[i + 1] = r;
                if (r == REAL(0)) {
                    precise REAL moved = d[i + 1] - p;
                    d[i + 1] = moved;
                    e[m] = REAL(0);
                    break;
                }
                s = f / r;
                c = g / r;
                g = d[i + 1] - p;
                r = (d[i] - g) * s + REAL(2) * c * b;
                p = s * r;
                precise REAL moved = g + p;
                d[i + 1] = moved;
                g = c * r - b;
                precise REAL upper = s * vector_at(i) + c * vector_at(i + 1);
                precise REAL lower = c * vector_at(i) - s * vector_at(i + 1);
                set_vector(i + 1, upper);
                set_vector(i, lower);
            }
            if (i >= l) continue;
            precise REAL moved = d[l] - p;
            d[l] = moved;
            e[l] = g;
            e[m] = REAL(0);
        }
    }

    // Insertion by exchange: equal eigenvalues keep their places.
    for (int i = 1; i < leaf; ++i) {
        for (int k = i; k > 0 && d[k] < d[k - 1]; --k) {
            REAL value = d[k];
            d[k] = d[k - 1];
            d[k - 1] = value;
            value = vector_at(k);
            set_vector(k, vector_at(k - 1));
            set_vector(k - 1, value);
        }
    }

    Reals vectors = Reals(vx_address(arguments.vectors, index, arguments.leaf));
    for (int i = 0; i < leaf; ++i) vectors.data[i] = vector_at(i);
    if (row == 0) {
        Reals values = Reals(vx_address(arguments.values, block, arguments.leaf));
        for (int i = 0; i < leaf; ++i) values.data[i] = d[i];
        if (first == 0u) Reals(arguments.norm).data[matrix] = norm;
        if (failed) Integers(arguments.state).data[2u * matrix + 1u] = 1;
    }
}
