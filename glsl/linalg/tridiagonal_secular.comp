// Roots of secular equations, 1 / rho + sum z_i^2 / (d_i - x) = 0: the eigenvalues of diag(d) + rho z z^T. One invocation
// finds one root, as its distance mu from the nearer pole, by the rational interpolation of Bunch, Nielsen and Sorensen
// (Numer. Math. 31, 1978) with the stopping criterion of LAPACK's xLAED4, kept between bounds by bisection.
#include "lib/extensions.glsl"
#extension GL_EXT_control_flow_attributes : require
#include "lib/tridiagonal.glsl"

layout(local_size_x_id = 0) in;

layout(set = 1, binding = 0, scalar) uniform Arguments {
    uvec2 poles;        // (pairs, size): d in order, and from the end the eigenvalues that stay
    uvec2 weights;      // (pairs, size): z
    uvec2 counts;       // (pairs, 2): how many poles there are
    uvec2 off_diagonal; // (batch, n)
    uvec2 origins;      // (pairs, size): the number of the pole next to each root
    uvec2 offsets;      // (pairs, size): mu
    uvec2 values;       // (pairs, size): the eigenvalues
    uvec2 state;        // (batch, 2): where failures are noted
    uint count;         // pairs * size
    uint n, merges, size;
    uint steps;         // at most
} arguments;

struct Sums { REAL below, above, below_slope, above_slope, error; };

// The sums over the poles up to number j and over those beyond it, each towards the root, and a bound for their error.
void evaluate(Reals d, Reals z, uint kept, uint j, REAL origin, REAL mu, out Sums sums) {
    precise REAL sum = REAL(0), slope = REAL(0), error = REAL(0);
    EACH(i, 0u, j + 1u, 1u) {
        precise REAL ratio = z.data[i] / ((d.data[i] - origin) - mu);
        sum = sum + z.data[i] * ratio;
        slope = slope + ratio * ratio;
        error = error - sum;
    }
    sums.below = sum;
    sums.below_slope = slope;
    sum = REAL(0);
    slope = REAL(0);
    EACH(i, j + 1u, kept, 1u) {
        uint k = kept + j - i;
        precise REAL ratio = z.data[k] / ((d.data[k] - origin) - mu);
        sum = sum + z.data[k] * ratio;
        slope = slope + ratio * ratio;
        error = error + sum;
    }
    sums.above = sum;
    sums.above_slope = slope;
    error = error + REAL(8) * (sums.above - sums.below);
    sums.error = error;
}

void main() {
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (index >= arguments.count) return;
    uint pair = index / arguments.size;
    uint j = index - pair * arguments.size;
    uint kept = uint(Integers(arguments.counts).data[2u * pair]);
    Reals d = Reals(vx_address(arguments.poles, pair, arguments.size));
    Reals z = Reals(vx_address(arguments.weights, pair, arguments.size));
    uint origin = j;
    REAL mu = REAL(0);
    if (j < kept) {
        uint matrix = pair / arguments.merges;
        uint border = (pair - matrix * arguments.merges) * arguments.size + arguments.size / 2u;
        precise REAL inverse = REAL(0.5) / abs(Reals(arguments.off_diagonal).data[matrix * arguments.n + border - 1u]);
        bool last = j + 1u == kept;
        Sums sums;
        precise REAL low = REAL(0), high = REAL(0);
        if (last) {
            precise REAL square = REAL(0);
            EACH(i, 0u, kept, 1u) square = square + z.data[i] * z.data[i];
            high = square / inverse * (REAL(1) + EPSILON * REAL(4));
            mu = high;
        } else {
            precise REAL gap = d.data[j + 1u] - d.data[j];
            mu = gap * REAL(0.5);
            high = mu;
        }
        evaluate(d, z, kept, j, d.data[j], mu, sums);
        precise REAL value = inverse + sums.below + sums.above;
        if (!last && value < REAL(0)) {
            origin = j + 1u;
            low = -mu;
            high = REAL(0);
            mu = low;
        }
        REAL pole = d.data[origin];
        uint step_ = 0u;
        for (; step_ < arguments.steps; ++step_) {
            precise REAL limit = EPSILON * REAL(0.5) * (sums.error + inverse + abs(mu) * (sums.below_slope + sums.above_slope));
            if (abs(value) <= limit) break;
            if (value < REAL(0)) low = mu;
            else high = mu;
            precise REAL left = (d.data[j] - pole) - mu;
            precise REAL next = mu;
            if (last) {
                precise REAL c = value - left * sums.below_slope;
                next = mu + (left + left * left * sums.below_slope / c);
            } else {
                precise REAL right = (d.data[j + 1u] - pole) - mu;
                precise REAL a = (left + right) * value - left * right * (sums.below_slope + sums.above_slope);
                precise REAL b = left * right * value;
                precise REAL c = value - left * sums.below_slope - right * sums.above_slope;
                precise REAL root = sqrt(abs(a * a - REAL(4) * b * c));
                precise REAL change = a <= REAL(0) ? (a - root) / (REAL(2) * c) : REAL(2) * b / (a + root);
                next = mu + change;
            }
            if (!(next > low && next < high)) {
                next = low + (high - low) * REAL(0.5);
                if (!(next > low && next < high)) break;    // no number is left between the bounds
            }
            mu = next;
            evaluate(d, z, kept, j, pole, mu, sums);
            value = inverse + sums.below + sums.above;
        }
        if (step_ == arguments.steps) Integers(arguments.state).data[2u * matrix + 1u] = 1;
    }
    precise REAL eigenvalue = d.data[origin] + mu;
    Integers(arguments.origins).data[index] = int(origin);
    Reals(vx_address(arguments.offsets, pair, arguments.size)).data[j] = mu;
    Reals(vx_address(arguments.values, pair, arguments.size)).data[j] = eigenvalue;
}
