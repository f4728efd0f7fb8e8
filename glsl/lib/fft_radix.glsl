#ifndef LIB_FFT_RADIX
#define LIB_FFT_RADIX

// Discrete Fourier transforms of 1 to 16 and of 25 points in registers, v[k] = sum over j of v[j] exp(-2 pi i j k / n).
#include "lib/fft_constants.glsl"

#define EACH(k, first, end) [[unroll]] for (int k = first; k < end; ++k)

COMPLEX vx_product(COMPLEX a, COMPLEX b) {
    precise REAL real_part = a.x * b.x - a.y * b.y;
    precise REAL imaginary_part = a.x * b.y + a.y * b.x;
    return COMPLEX(real_part, imaginary_part);
}

COMPLEX vx_scaled(COMPLEX z, REAL factor) {
    precise COMPLEX scaled = z * factor;
    return scaled;
}

COMPLEX vx_conjugate(COMPLEX z) { return COMPLEX(z.x, -z.y); }

// z times -i.
COMPLEX vx_turned(COMPLEX z) { return COMPLEX(z.y, -z.x); }

// Results k and n - k of a transform of 2 n real points, from those of the transform of n pairs of them, and the root
// exp(-2 pi i k / (2 n)): the spectra of the even and the odd points are the parts of the pairs' spectrum that are symmetric
// about 0 (Press et al., Numerical Recipes, "FFT of Single Real Function").
void vx_unfold(COMPLEX near, COMPLEX far, COMPLEX root, out COMPLEX first, out COMPLEX last) {
    far = vx_conjugate(far);
    COMPLEX even = vx_scaled(near + far, REAL(0.5));
    COMPLEX odd = vx_product(vx_turned(vx_scaled(near - far, REAL(0.5))), root);
    first = even + odd;
    last = vx_conjugate(even - odd);
}

void vx_dft_1(inout COMPLEX v[1]) {}

void vx_dft_2(inout COMPLEX v[2]) {
    COMPLEX difference = v[0] - v[1];
    v[0] += v[1];
    v[1] = difference;
}

void vx_dft_4(inout COMPLEX v[4]) {
    COMPLEX even_sum = v[0] + v[2], even_difference = v[0] - v[2];
    COMPLEX odd_sum = v[1] + v[3], odd_difference = vx_turned(v[1] - v[3]);
    v = COMPLEX[4](even_sum + odd_sum, even_difference + odd_difference, even_sum - odd_sum, even_difference - odd_difference);
}

// Odd lengths: v[k] + v[n - k] meets the cosines and v[k] - v[n - k] the sines.
#define VX_DFT_ODD(N, HALF, COSINES, SINES)                                                \
    void vx_dft_##N(inout COMPLEX v[N]) {                                                  \
        const REAL cosines[HALF] = REAL[HALF] COSINES;                                     \
        const REAL sines[HALF] = REAL[HALF] SINES;                                         \
        COMPLEX sums[HALF], differences[HALF];                                             \
        EACH(k, 0, HALF) {                                                                 \
            sums[k] = v[k + 1] + v[N - 1 - k];                                             \
            differences[k] = v[k + 1] - v[N - 1 - k];                                      \
        }                                                                                  \
        COMPLEX first = v[0];                                                              \
        EACH(k, 0, HALF) v[0] += sums[k];                                                  \
        EACH(j, 1, HALF + 1) {                                                             \
            COMPLEX even = first + vx_scaled(sums[0], cosines[j - 1]);                     \
            COMPLEX odd = vx_scaled(differences[0], sines[j - 1]);                         \
            EACH(k, 2, HALF + 1) {                                                         \
                int turn = j * k % N;                                                      \
                bool back = turn > HALF;                                                   \
                int place = (back ? N - turn : turn) - 1;                                  \
                even += vx_scaled(sums[k - 1], cosines[place]);                            \
                odd += vx_scaled(differences[k - 1], back ? -sines[place] : sines[place]); \
            }                                                                              \
            v[j] = even + vx_turned(odd);                                                  \
            v[N - j] = even - vx_turned(odd);                                              \
        }                                                                                  \
    }

VX_DFT_ODD(3, 1, VX_COSINES_3, VX_SINES_3)
VX_DFT_ODD(5, 2, VX_COSINES_5, VX_SINES_5)
VX_DFT_ODD(7, 3, VX_COSINES_7, VX_SINES_7)
VX_DFT_ODD(11, 5, VX_COSINES_11, VX_SINES_11)
VX_DFT_ODD(13, 6, VX_COSINES_13, VX_SINES_13)

// Lengths with factors A and B in common with none: Good's mapping needs no roots between the factors (Good 1958).
// A_INVERSE is 1 / A modulo B, B_INVERSE is 1 / B modulo A.
#define VX_DFT_COPRIME(N, A, B, A_INVERSE, B_INVERSE)                                      \
    void vx_dft_##N(inout COMPLEX v[N]) {                                                  \
        COMPLEX rows[A][B];                                                                \
        EACH(a, 0, A) {                                                                    \
            EACH(b, 0, B) rows[a][b] = v[(a * B + b * A) % N];                             \
            vx_dft_##B(rows[a]);                                                           \
        }                                                                                  \
        EACH(b, 0, B) {                                                                    \
            COMPLEX column[A];                                                             \
            EACH(a, 0, A) column[a] = rows[a][b];                                          \
            vx_dft_##A(column);                                                            \
            EACH(a, 0, A) v[(a * B * B_INVERSE + b * A * A_INVERSE) % N] = column[a];      \
        }                                                                                  \
    }

VX_DFT_COPRIME(6, 2, 3, 2, 1)
VX_DFT_COPRIME(10, 2, 5, 3, 1)
VX_DFT_COPRIME(12, 4, 3, 1, 3)
VX_DFT_COPRIME(14, 2, 7, 4, 1)
VX_DFT_COPRIME(15, 3, 5, 2, 2)

// Lengths A * B with common factors: root(a * k) goes between (Cooley and Tukey 1965).
#define VX_DFT_PRODUCT(N, A, B, ROOTS)                                                     \
    void vx_dft_##N(inout COMPLEX v[N]) {                                                  \
        const COMPLEX roots[(A - 1) * (B - 1) + 1] = COMPLEX[(A - 1) * (B - 1) + 1] ROOTS; \
        COMPLEX rows[A][B];                                                                \
        EACH(a, 0, A) {                                                                    \
            EACH(b, 0, B) rows[a][b] = v[a + A * b];                                       \
            vx_dft_##B(rows[a]);                                                           \
        }                                                                                  \
        EACH(b, 0, B) {                                                                    \
            COMPLEX column[A];                                                             \
            EACH(a, 0, A) {                                                                \
                column[a] = rows[a][b];                                                    \
                if (4 * a * b == N) column[a] = vx_turned(column[a]);                      \
                else if (a * b != 0) column[a] = vx_product(column[a], roots[a * b]);      \
            }                                                                              \
            vx_dft_##A(column);                                                            \
            EACH(a, 0, A) v[b + B * a] = column[a];                                        \
        }                                                                                  \
    }

VX_DFT_PRODUCT(8, 2, 4, VX_ROOTS_8)
VX_DFT_PRODUCT(9, 3, 3, VX_ROOTS_9)
VX_DFT_PRODUCT(16, 4, 4, VX_ROOTS_16)
VX_DFT_PRODUCT(25, 5, 5, VX_ROOTS_25)

#endif
