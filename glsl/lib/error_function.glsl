// erf, erfc and the inverse of erf, after pointwise.glsl's T. Polynomials fitted by Chebyshev nodes: erf(x) / x in x^2 up to
// 1; (1 + 2x) exp(x^2) erfc(x) in (x - 3.75) / (x + 3.75) from 0.5 on (Shepherd and Laframboise, Math. Comp. 36, 1981).
#ifndef LIB_ERROR_FUNCTION
#define LIB_ERROR_FUNCTION

#ifdef DOUBLE

const double VX_ERF[15] = double[](
    2.80671281956112625e-13lf, -6.19673642878769998e-12lf, 9.32372351815302663e-11lf, -1.22777344867955238e-9lf,
    1.48060271461287517e-8lf, -1.63657686488320721e-7lf, 1.64621107820186364e-6lf, -0.0000149256502369675017lf,
    0.000120553329788794839lf, -0.000854832702340300061lf, 0.00522397762544167401lf, -0.0268661706451312185lf,
    0.112837916709551256lf, -0.376126389031837525lf, 1.12837916709551257lf);
const double VX_ERFC[24] = double[](
    4.09891213914741441e-10lf, -3.91641857861919182e-9lf, -4.17654275703617144e-9lf, 3.72472432098457682e-8lf,
    2.41018445780907412e-8lf, -2.58034820175318689e-7lf, -5.81610036470322828e-8lf, 1.75178182862356222e-6lf,
    -9.72883675344627398e-7lf, -0.000011444463844195565lf, 0.0000223839185412673578lf, 0.0000516492712143431826lf,
    -0.000290153979725396978lf, 0.000293713615508135151lf, 0.00175562583234017423lf, -0.0097465795495679157lf,
    0.0283622774215362313lf, -0.0586933985904429573lf, 0.0923043211601965878lf, -0.108803930141710206lf,
    0.0822767384901510828lf, 0.0035854154854637157lf, -0.140240598585547019lf, 1.23751263083782758lf);

// x without the bits that its square has no room for.
double vx_leading_half(double x) { return packDouble2x32(uvec2(0u, unpackDouble2x32(x).y)); }

#else

const float VX_ERF[8] = float[](
    -9.667044571e-6, 0.0001126595903, -0.0008484080406, 0.005221031808, -0.02686543073, 0.112837825, -0.3761263847,
    1.128379167);
const float VX_ERFC[11] = float[](
    0.0007636161559, 0.001744848864, -0.01002078377, 0.02830632158, -0.05863443428, 0.09231886112, -0.1088093735,
    0.08227558325, 0.003585604364, -0.1402405756, 1.23751263);

float vx_leading_half(float x) { return uintBitsToFloat(floatBitsToUint(x) & 0xFFFFF000u); }

#endif

// erfc of x >= 0.5.
T vx_erfc_large(T x) {
    precise T t = (x - T(3.75)) / (x + T(3.75));
    precise T sum = VX_ERFC[0];
    for (int k = 1; k < VX_ERFC.length(); ++k) sum = sum * t + VX_ERFC[k];
    T head = vx_leading_half(x);
    precise T power = vx_exp(-head * head) * vx_exp((head - x) * (head + x));
    precise T result = power * sum / (T(1) + T(2) * x);
    return x > T(28) ? T(0) : result;
}

T vx_erf_small(T x) {
    precise T z = x * x;
    precise T sum = VX_ERF[0];
    for (int k = 1; k < VX_ERF.length(); ++k) sum = sum * z + VX_ERF[k];
    precise T result = x * sum;
    return result;
}

T vx_erf(T x) {
    T magnitude = vx_absolute(x);
    if (!(magnitude > T(1))) return vx_erf_small(x);
    precise T result = T(1) - vx_erfc_large(magnitude);
    return vx_copysign(result, x);
}

T vx_erfc(T x) {
    if (x > T(0.5)) return vx_erfc_large(x);
    if (x < T(-1)) {
        precise T result = T(2) - vx_erfc_large(-x);
        return result;
    }
    precise T result = T(1) - vx_erf_small(x);
    return result;
}

// The standard normal distribution function and its density.
T vx_normal_distribution(T x) {
    precise T result = T(0.5) * vx_erfc(-x * VX_ROOT_HALF);
    return result;
}

T vx_normal_density(T x) {
    precise T result = VX_NORMAL_PEAK * vx_exp(T(-0.5) * x * x);
    return result;
}

// About the inverse error function of `magnitude` = 1 - rest, by Winitzki (2008, relative error 0.002).
T vx_erfinv_start(T magnitude, T rest) {
    precise T logarithm = vx_log(rest * (T(1) + magnitude));
    precise T half_sum = VX_WINITZKI_SUM + T(0.5) * logarithm;
    precise T inner = half_sum * half_sum - logarithm * VX_WINITZKI_FACTOR;
    precise T x = vx_sqrt(max(vx_sqrt(inner) - half_sum, T(0)));
    if (magnitude < T(0.001)) x = magnitude * VX_ROOT_PI_HALF;
    return x;
}

// Steps of Halley's method on the smaller of erf and erfc.
T vx_erfinv(T y) {
    T magnitude = vx_absolute(y);
    if (!(magnitude < T(1))) {
        return magnitude == T(1) ? vx_copysign(VX_INFINITY, y) : VX_NAN;
    }
    precise T rest = T(1) - magnitude;
    precise T x = vx_erfinv_start(magnitude, rest);
    for (int step = 0; step < 3; ++step) {
        precise T error = x < T(0.5) ? vx_erf_small(x) - magnitude : rest - vx_erfc_large(x);
        precise T move = error / (VX_ERF_SLOPE * vx_exp(-x * x));
        x = x - move / (T(1) + x * move);
    }
    return vx_copysign(x, y);
}

#endif
