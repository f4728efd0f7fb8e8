// Bessel functions of the orders 0 and 1, and Airy's: rational and Chebyshev approximations of S. L. Moshier's Cephes library.
#ifndef LIB_BESSEL
#define LIB_BESSEL

#include "lib/special.glsl"

const T VX_J0_COSINE[7] = T[](
    T(7.96936729297347051624e-04lf), T(8.28352392107440799803e-02lf), T(1.23953371646414299388e+00lf),
    T(5.44725003058768775090e+00lf), T(8.74716500199817011941e+00lf), T(5.30324038235394892183e+00lf),
    T(9.99999999999999997821e-01lf));
const T VX_J0_COSINE_BELOW[7] = T[](
    T(9.24408810558863637013e-04lf), T(8.56288474354474431428e-02lf), T(1.25352743901058953537e+00lf),
    T(5.47097740330417105182e+00lf), T(8.76190883237069594232e+00lf), T(5.30605288235394617618e+00lf),
    T(1.00000000000000000218e+00lf));
const T VX_J0_SINE[8] = T[](
    T(-1.13663838898469149931e-02lf), T(-1.28252718670509318512e+00lf), T(-1.95539544257735972385e+01lf),
    T(-9.32060152123768231369e+01lf), T(-1.77681167980488050595e+02lf), T(-1.47077505154951170175e+02lf),
    T(-5.14105326766599330220e+01lf), T(-6.05014350600728481186e+00lf));
const T VX_J0_SINE_BELOW[7] = T[](
    T(6.43178256118178023184e+01lf), T(8.56430025976980587198e+02lf), T(3.88240183605401609683e+03lf),
    T(7.24046774195652478189e+03lf), T(5.93072701187316984827e+03lf), T(2.06209331660327847417e+03lf),
    T(2.42005740240291393179e+02lf));
const T VX_J0_SMALL[4] = T[](
    T(-4.79443220978201773821e+09lf), T(1.95617491946556577543e+12lf), T(-2.49248344360967716204e+14lf),
    T(9.70862251047306323952e+15lf));
const T VX_J0_SMALL_BELOW[8] = T[](
    T(4.99563147152651017219e+02lf), T(1.73785401676374683123e+05lf), T(4.84409658339962045305e+07lf),
    T(1.11855537045356834862e+10lf), T(2.11277520115489217587e+12lf), T(3.10518229857422583814e+14lf),
    T(3.18121955943204943306e+16lf), T(1.71086294081043136091e+18lf));
const T VX_Y0_SMALL[8] = T[](
    T(1.55924367855235737965e+04lf), T(-1.46639295903971606143e+07lf), T(5.43526477051876500413e+09lf),
    T(-9.82136065717911466409e+11lf), T(8.75906394395366999549e+13lf), T(-3.46628303384729719441e+15lf),
    T(4.42733268572569800351e+16lf), T(-1.84950800436986690637e+16lf));
const T VX_Y0_SMALL_BELOW[7] = T[](
    T(1.04128353664259848412e+03lf), T(6.26107330137134956842e+05lf), T(2.68919633393814121987e+08lf),
    T(8.64002487103935000337e+10lf), T(2.02979612750105546709e+13lf), T(3.17157752842975028269e+15lf),
    T(2.50596256172653059228e+17lf));
const T VX_K0_SMALL[10] = T[](
    T(1.37446543561352307156e-16lf), T(4.25981614279661018399e-14lf), T(1.03496952576338420167e-11lf),
    T(1.90451637722020886025e-09lf), T(2.53479107902614945675e-07lf), T(2.28621210311945178607e-05lf),
    T(1.26461541144692592338e-03lf), T(3.59799365153615016266e-02lf), T(3.44289899924628486886e-01lf),
    T(-5.35327393233902768720e-01lf));
const T VX_K0_LARGE[25] = T[](
    T(5.30043377268626276149e-18lf), T(-1.64758043015242134646e-17lf), T(5.21039150503902756861e-17lf),
    T(-1.67823109680541210385e-16lf), T(5.51205597852431940784e-16lf), T(-1.84859337734377901440e-15lf),
    T(6.34007647740507060557e-15lf), T(-2.22751332699166985548e-14lf), T(8.03289077536357521100e-14lf),
    T(-2.98009692317273043925e-13lf), T(1.14034058820847496303e-12lf), T(-4.51459788337394416547e-12lf),
    T(1.85594911495471785253e-11lf), T(-7.95748924447710747776e-11lf), T(3.57739728140030116597e-10lf),
    T(-1.69753450938905987466e-09lf), T(8.57403401741422608519e-09lf), T(-4.66048989768794782956e-08lf),
    T(2.76681363944501510342e-07lf), T(-1.83175552271911948767e-06lf), T(1.39498137188764993662e-05lf),
    T(-1.28495495816278026384e-04lf), T(1.56988388573005337491e-03lf), T(-3.14481013119645005427e-02lf),
    T(2.44030308206595545468e+00lf));
const T VX_J1_COSINE[7] = T[](
    T(7.62125616208173112003e-04lf), T(7.31397056940917570436e-02lf), T(1.12719608129684925192e+00lf),
    T(5.11207951146807644818e+00lf), T(8.42404590141772420927e+00lf), T(5.21451598682361504063e+00lf),
    T(1.00000000000000000254e+00lf));
const T VX_J1_COSINE_BELOW[7] = T[](
    T(5.71323128072548699714e-04lf), T(6.88455908754495404082e-02lf), T(1.10514232634061696926e+00lf),
    T(5.07386386128601488557e+00lf), T(8.39985554327604159757e+00lf), T(5.20982848682361821619e+00lf),
    T(9.99999999999999997461e-01lf));
const T VX_J1_SINE[8] = T[](
    T(5.10862594750176621635e-02lf), T(4.98213872951233449420e+00lf), T(7.58238284132545283818e+01lf),
    T(3.66779609360150777800e+02lf), T(7.10856304998926107277e+02lf), T(5.97489612400613639965e+02lf),
    T(2.11688757100572135698e+02lf), T(2.52070205858023719784e+01lf));
const T VX_J1_SINE_BELOW[7] = T[](
    T(7.42373277035675149943e+01lf), T(1.05644886038262816351e+03lf), T(4.98641058337653607651e+03lf),
    T(9.56231892404756170795e+03lf), T(7.99704160447350683650e+03lf), T(2.82619278517639096600e+03lf),
    T(3.36093607810698293419e+02lf));
const T VX_J1_SMALL[4] = T[](
    T(-8.99971225705559398224e+08lf), T(4.52228297998194034323e+11lf), T(-7.27494245221818276015e+13lf),
    T(3.68295732863852883286e+15lf));
const T VX_J1_SMALL_BELOW[8] = T[](
    T(6.20836478118054335476e+02lf), T(2.56987256757748830383e+05lf), T(8.35146791431949253037e+07lf),
    T(2.21511595479792499675e+10lf), T(4.74914122079991414898e+12lf), T(7.84369607876235854894e+14lf),
    T(8.95222336184627338078e+16lf), T(5.32278620332680085395e+18lf));
const T VX_Y1_SMALL[6] = T[](
    T(1.26320474790178026440e+09lf), T(-6.47355876379160291031e+11lf), T(1.14509511541823727583e+14lf),
    T(-8.12770255501325109621e+15lf), T(2.02439475713594898196e+17lf), T(-7.78877196265950026825e+17lf));
const T VX_Y1_SMALL_BELOW[8] = T[](
    T(5.94301592346128195359e+02lf), T(2.35564092943068577943e+05lf), T(7.34811944459721705660e+07lf),
    T(1.87601316108706159478e+10lf), T(3.88231277496238566008e+12lf), T(6.20557727146953693363e+14lf),
    T(6.87141087355300489866e+16lf), T(3.97270608116560655612e+18lf));
const T VX_K1_SMALL[11] = T[](
    T(-7.02386347938628759343e-18lf), T(-2.42744985051936593393e-15lf), T(-6.66690169419932900609e-13lf),
    T(-1.41148839263352776110e-10lf), T(-2.21338763073472585583e-08lf), T(-2.43340614156596823496e-06lf),
    T(-1.73028895751305206302e-04lf), T(-6.97572385963986435018e-03lf), T(-1.22611180822657148235e-01lf),
    T(-3.53155960776544875667e-01lf), T(1.52530022733894777053e+00lf));
const T VX_K1_LARGE[25] = T[](
    T(-5.75674448366501715755e-18lf), T(1.79405087314755922667e-17lf), T(-5.68946255844285935196e-17lf),
    T(1.83809354436663880070e-16lf), T(-6.05704724837331885336e-16lf), T(2.03870316562433424052e-15lf),
    T(-7.01983709041831346144e-15lf), T(2.47715442448130437068e-14lf), T(-8.97670518232499435011e-14lf),
    T(3.34841966607842919884e-13lf), T(-1.28917396095102890680e-12lf), T(5.13963967348173025100e-12lf),
    T(-2.12996783842756842877e-11lf), T(9.21831518760500529508e-11lf), T(-4.19035475934189648750e-10lf),
    T(2.01504975519703286596e-09lf), T(-1.03457624656780970260e-08lf), T(5.74108412545004946722e-08lf),
    T(-3.50196060308781257119e-07lf), T(2.40648494783721712015e-06lf), T(-1.93619797416608296024e-05lf),
    T(1.95215518471351631108e-04lf), T(-2.85781685962277938680e-03lf), T(1.03923736576817238437e-01lf),
    T(2.72062619048444266945e+00lf));

// The value at X of a polynomial whose coefficients begin with that of the highest power, and of one in Chebyshev's form.
#define VX_POLYNOMIAL(RESULT, NAME, X)          \
    precise T RESULT = VX_##NAME[0];            \
    for (int k = 1; k < VX_##NAME.length(); ++k) RESULT = RESULT * (X) + VX_##NAME[k];
#define VX_CHEBYSHEV_SERIES(RESULT, NAME, X)    \
    precise T RESULT = VX_##NAME[0];            \
    {                                           \
        precise T last = T(0), older = T(0);    \
        for (int k = 1; k < VX_##NAME.length(); ++k) { \
            older = last;                       \
            last = RESULT;                      \
            RESULT = (X) * last - older + VX_##NAME[k]; \
        }                                       \
        RESULT = T(0.5) * (RESULT - older);     \
    }

const T VX_2_BY_PI = T(0.63661977236758134308lf);

// The parts of the asymptotic form beside cosine and sine, times 1 / sqrt(pi x): with these, no phase is rounded.
#define VX_ASYMPTOTIC_PARTS(ORDER)                                \
    precise T inverse = T(5) / x, square = inverse * inverse;     \
    VX_POLYNOMIAL(even, J##ORDER##_COSINE, square)                \
    VX_POLYNOMIAL(even_below, J##ORDER##_COSINE_BELOW, square)    \
    VX_POLYNOMIAL(odd, J##ORDER##_SINE, square)                   \
    VX_POLYNOMIAL(odd_below, J##ORDER##_SINE_BELOW, square)       \
    precise T p = even / even_below, q = inverse * (odd / odd_below); \
    precise T c = vx_cos(x), s = vx_sin(x), scale = vx_sqrt(VX_2_BY_PI / x) * VX_ROOT_HALF;

T vx_bessel_j0(T x) {
    x = vx_absolute(x);
    if (x == VX_INFINITY) return T(0);
    if (x <= T(5)) {
        precise T square = x * x;
        VX_POLYNOMIAL(above, J0_SMALL, square)
        VX_POLYNOMIAL(below, J0_SMALL_BELOW, square)
        precise T small = (square - T(5.78318596294678452118lf)) * (square - T(30.4712623436620863991lf)) * above / below;
        precise T tiny = T(1) - square / T(4);
        return x < T(0.00001lf) ? tiny : small;
    }
    VX_ASYMPTOTIC_PARTS(0)
    precise T result = scale * (p * (c + s) - q * (s - c));
    return result;
}

T vx_bessel_j1(T given) {
    precise T x = vx_absolute(given);
    if (x == VX_INFINITY) return T(0);
    precise T result;
    if (x <= T(5)) {
        precise T square = x * x;
        VX_POLYNOMIAL(above, J1_SMALL, square)
        VX_POLYNOMIAL(below, J1_SMALL_BELOW, square)
        result = above / below * x * (square - T(14.6819706421238932572lf)) * (square - T(49.2184563216946036703lf));
    } else {
        VX_ASYMPTOTIC_PARTS(1)
        result = scale * (p * (s - c) + q * (s + c));
    }
    return given < T(0) ? -result : result;
}

T vx_bessel_y0(T x) {
    if (!(x > T(0))) return x == T(0) ? -VX_INFINITY : VX_NAN;
    if (x == VX_INFINITY) return T(0);
    if (x <= T(5)) {
        precise T square = x * x;
        VX_POLYNOMIAL(above, Y0_SMALL, square)
        VX_POLYNOMIAL(below, Y0_SMALL_BELOW, square)
        precise T small = above / below + VX_2_BY_PI * vx_log(x) * vx_bessel_j0(x);
        return small;
    }
    VX_ASYMPTOTIC_PARTS(0)
    precise T result = scale * (p * (s - c) + q * (c + s));
    return result;
}

T vx_bessel_y1(T x) {
    if (!(x > T(0))) return x == T(0) ? -VX_INFINITY : VX_NAN;
    if (x == VX_INFINITY) return T(0);
    if (x <= T(5)) {
        precise T square = x * x;
        VX_POLYNOMIAL(above, Y1_SMALL, square)
        VX_POLYNOMIAL(below, Y1_SMALL_BELOW, square)
        precise T small = x * (above / below) + VX_2_BY_PI * (vx_bessel_j1(x) * vx_log(x) - T(1) / x);
        return small;
    }
    VX_ASYMPTOTIC_PARTS(1)
    precise T result = scale * (q * (s - c) - p * (s + c));
    return result;
}

// Of the second kind and an imaginary argument, times exp(x) where `scaled`.
T vx_bessel_k(T x, int order, bool scaled) {
    if (!(x > T(0))) return x == T(0) ? VX_INFINITY : VX_NAN;
    if (x == VX_INFINITY) return T(0);
    precise T result, square = x * x - T(2), inverse = T(8) / x - T(2);
    if (x <= T(2)) {
        precise T logarithm = vx_log(T(0.5) * x) * vx_bessel_series(x, order);
        VX_CHEBYSHEV_SERIES(first, K0_SMALL, square)
        VX_CHEBYSHEV_SERIES(second, K1_SMALL, square)
        precise T small = order == 0 ? first - logarithm : logarithm + second / x;
        precise T large = small * vx_exp(x);
        return scaled ? large : small;
    }
    VX_CHEBYSHEV_SERIES(zeroth, K0_LARGE, inverse)
    VX_CHEBYSHEV_SERIES(other, K1_LARGE, inverse)
    result = (order == 0 ? zeroth : other) / vx_sqrt(x);
    precise T unscaled = result * vx_exp(-x);
    return scaled ? result : unscaled;
}

// sin(x) / x.
T vx_spherical_bessel_j0(T x) {
    if (vx_absolute(x) == VX_INFINITY) return T(0);
    precise T square = x * x;
    precise T series = T(1) + square * (T(-1) / T(6) + square * (T(1) / T(120) + square * (T(-1) / T(5040)
        + square * (T(1) / T(362880) + square * (T(-1) / T(39916800) + square / T(6227020800.0lf))))));
    return vx_absolute(x) < T(0.5) ? series : vx_divide(vx_sin(x), x);
}

// -- Airy's function -------------------------------------------------------------------------------------------------------

const T VX_AIRY_LARGE[8] = T[](
    T(3.46538101525629032477e-01lf), T(1.20075952739645805542e+01lf), T(7.62796053615234516538e+01lf),
    T(1.68089224934630576269e+02lf), T(1.59756391350164413639e+02lf), T(7.05360906840444183113e+01lf),
    T(1.40264691163389668864e+01lf), T(9.99999999999999995305e-01lf));
const T VX_AIRY_LARGE_BELOW[8] = T[](
    T(5.67594532638770212846e-01lf), T(1.47562562584847203173e+01lf), T(8.45138970141474626562e+01lf),
    T(1.77318088145400459522e+02lf), T(1.64234692871529701831e+02lf), T(7.14778400825575695274e+01lf),
    T(1.40959135607834029598e+01lf), T(1.00000000000000000470e+00lf));
const T VX_AIRY_SINE[9] = T[](
    T(-1.31696323418331795333e-01lf), T(-6.26456544431912369773e-01lf), T(-6.93158036036933542233e-01lf),
    T(-2.79779981545119124951e-01lf), T(-4.91900132609500318020e-02lf), T(-4.06265923594885404393e-03lf),
    T(-1.59276496239262096340e-04lf), T(-2.77649108155232920844e-06lf), T(-1.67787698489114633780e-08lf));
const T VX_AIRY_SINE_BELOW[9] = T[](
    T(1.33560420706553243746e+01lf), T(3.26825032795224613948e+01lf), T(2.67367040941499554804e+01lf),
    T(9.18707402907259625840e+00lf), T(1.47529146771666414581e+00lf), T(1.15687173795188044134e-01lf),
    T(4.40291641615211203805e-03lf), T(7.54720348287414296618e-05lf), T(4.51850092970580378464e-07lf));
const T VX_AIRY_COSINE[11] = T[](
    T(1.97339932091685679179e-02lf), T(3.91103029615688277255e-01lf), T(1.06579897599595591108e+00lf),
    T(9.39169229816650230044e-01lf), T(3.51465656105547619242e-01lf), T(6.33888919628925490927e-02lf),
    T(5.85804113048388458567e-03lf), T(2.82851600836737019778e-04lf), T(6.98793669997260967291e-06lf),
    T(8.11789239554389293311e-08lf), T(3.41551784765923618484e-10lf));
const T VX_AIRY_COSINE_BELOW[10] = T[](
    T(9.30892908077441974853e+00lf), T(1.98352928718312140417e+01lf), T(1.55646628932864612953e+01lf),
    T(5.47686069422975497931e+00lf), T(9.54293611618961883998e-01lf), T(8.64580826352392193095e-02lf),
    T(4.12656523824222607191e-03lf), T(1.01259085116509135510e-04lf), T(1.17166733214413521882e-06lf),
    T(4.91834570062930015649e-09lf));

const T VX_1_BY_ROOT_PI = T(0.56418958354775628695lf);

T vx_airy_ai(T x) {
    if (x != x || vx_absolute(x) == VX_INFINITY) return VX_NAN;  // as in PyTorch
    if (x > T(103.892lf)) return T(0);
    precise T root = vx_sqrt(vx_absolute(x)), zeta = T(2) * vx_absolute(x) * root / T(3), inverse = T(1) / zeta;
    if (x < T(-2.09lf)) {
        precise T square = inverse * inverse;
        VX_POLYNOMIAL(sine, AIRY_SINE, square)
        VX_POLYNOMIAL(sine_below, AIRY_SINE_BELOW, square)
        VX_POLYNOMIAL(cosine, AIRY_COSINE, square)
        VX_POLYNOMIAL(cosine_below, AIRY_COSINE_BELOW, square)
        precise T angle = zeta + T(0.25) * VX_PI;
        precise T left = VX_1_BY_ROOT_PI / vx_sqrt(root) * (vx_sin(angle) * (T(1) + square * sine / sine_below)
            - vx_cos(angle) * (inverse * cosine / cosine_below));
        return left;
    }
    if (x >= T(2.09lf)) {
        VX_POLYNOMIAL(above, AIRY_LARGE, inverse)
        VX_POLYNOMIAL(below, AIRY_LARGE_BELOW, inverse)
        precise T right = VX_1_BY_ROOT_PI * (above / below) / (T(2) * vx_sqrt(root)) * vx_exp(-zeta);
        return right;
    }
    precise T f = T(1), g = x, m = T(1), n = x, k = T(1), cube = x * x * x;
    for (int i = 0; i < 40; ++i) {
        m = m * cube / ((k + T(1)) * (k + T(2)));
        n = n * cube / ((k + T(2)) * (k + T(3)));
        f += m;
        g += n;
        k += T(3);
    }
    precise T middle = T(0.355028053887817239260lf) * f - T(0.258819403792806798405lf) * g;
    return middle;
}

#endif
