"""NumPy-like arrays on any Vulkan device, after the Python array API standard.

    import vkarray as vx

This file is the index of the namespace: each group below is a chapter of the standard. `add as add` tells type checkers
that the name is public.
"""

from __future__ import annotations

from . import lazy as _lazy  # first, for it tells code that interrupts the rest

# isort: split
import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:  # the names of `lazy.NAMESPACE`
    from .command.info import show_config as show_config
    from . import polynomial as polynomial, random as random, testing as testing, typing as typing
    from .graph.compile import compile as compile
    from .graph.dimensions import Dim as Dim
    from .kernels.elementwise_kernel import ElementwiseKernel as ElementwiseKernel
    from .kernels.reduction_kernel import ReductionKernel as ReductionKernel
    from .kernels.user import kernel as kernel
    from .profiling.block import profile as profile
    from .programs.program import Program as Program, load_program as load_program
    from .ops.beyond.iteration import nditer as nditer

from . import exceptions as exceptions, fft as fft, lib as lib, linalg as linalg
from .lib import scimath as emath
from .io import interchange as _interchange
from .io import printing as _printing
from .core.array import VkArray as VkArray
from .cache import statistics as _cache_statistics
from .kernels.planned import statistics as _plan_statistics
from .configuration import config as config, set_value as _set_value
from .io.dlpack import from_dlpack as from_dlpack
from .core.dtypes import (
    bfloat16 as bfloat16,
    complex64 as complex64,
    complex128 as complex128,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
)
from .core.dtypes import DType as _DType, bool_ as _bool, default_floating as _default_floating
from .errors import (
    ConfigurationError as ConfigurationError,
    DeviceError as DeviceError,
    DeviceLostError as DeviceLostError,
    FeatureError as FeatureError,
    ForkError as ForkError,
    LinAlgError as LinAlgError,
    OutOfMemoryError as OutOfMemoryError,
    ProgramError as ProgramError,
    ShaderError as ShaderError,
    TraceError as TraceError,
    ValidationError as ValidationError,
    VkArrayError as VkArrayError,
    VulkanError as VulkanError,
)
from .io.files import load as load, save as save, savez as savez, savez_compressed as savez_compressed
from .io.overlap import may_share_memory as may_share_memory, shares_memory as shares_memory
from .io.tables import fromfile as fromfile, genfromtxt as genfromtxt, loadtxt as loadtxt, savetxt as savetxt
from .io.text import (
    array2string as array2string,
    array_repr as array_repr,
    array_str as array_str,
    base_repr as base_repr,
    binary_repr as binary_repr,
    format_float_positional as format_float_positional,
    format_float_scientific as format_float_scientific,
    get_printoptions as get_printoptions,
    printoptions as printoptions,
    set_printoptions as set_printoptions,
)
from .ops.beyond.memory import Flat as _Flat
from .ops.ufunc import ufunc as _ufunc
from .ops.inspection import __array_namespace_info__ as __array_namespace_info__
from .ops.beyond.asking import (
    common_type as common_type,
    info as info,
    isfortran as isfortran,
    iterable as iterable,
    mintypecode as mintypecode,
    typename as typename,
)
from .ops.beyond.broadcasting import broadcast as broadcast
from .ops.beyond.floating_errors import errstate as errstate, geterr as geterr, seterr as seterr
from .ops.beyond.copies import asarray_chkfinite as asarray_chkfinite, copy as copy, identity as identity
from .ops.beyond.closeness import (
    allclose as allclose,
    array_equal as array_equal,
    array_equiv as array_equiv,
    isclose as isclose,
)
from .ops.creation import (
    arange as arange,
    array as array,
    asarray as asarray,
    empty as empty,
    empty_like as empty_like,
    eye as eye,
    full as full,
    full_like as full_like,
    linspace as linspace,
    meshgrid as meshgrid,
    ones as ones,
    ones_like as ones_like,
    tril as tril,
    triu as triu,
    zeros as zeros,
    zeros_like as zeros_like,
)
from .ops.data_type import (
    astype as astype,
    can_cast as can_cast,
    finfo as finfo,
    iinfo as iinfo,
    isdtype as isdtype,
    min_scalar_type as min_scalar_type,
    promote_types as promote_types,
    result_type as result_type,
)
from .ops.beyond.einsum import einsum as einsum, einsum_path as einsum_path
from .ops.elementwise import (
    abs as abs,
    acos as acos,
    acosh as acosh,
    add as add,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atan2 as atan2,
    atanh as atanh,
    bitwise_and as bitwise_and,
    bitwise_invert as bitwise_invert,
    bitwise_left_shift as bitwise_left_shift,
    bitwise_or as bitwise_or,
    bitwise_right_shift as bitwise_right_shift,
    bitwise_xor as bitwise_xor,
    ceil as ceil,
    clip as clip,
    conj as conj,
    copysign as copysign,
    cos as cos,
    cosh as cosh,
    divide as divide,
    equal as equal,
    exp as exp,
    expm1 as expm1,
    floor as floor,
    floor_divide as floor_divide,
    greater as greater,
    greater_equal as greater_equal,
    hypot as hypot,
    imag as imag,
    isfinite as isfinite,
    isinf as isinf,
    isnan as isnan,
    less as less,
    less_equal as less_equal,
    log as log,
    log1p as log1p,
    log2 as log2,
    log10 as log10,
    logaddexp as logaddexp,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    logical_xor as logical_xor,
    maximum as maximum,
    minimum as minimum,
    multiply as multiply,
    negative as negative,
    nextafter as nextafter,
    not_equal as not_equal,
    positive as positive,
    pow as pow,
    real as real,
    reciprocal as reciprocal,
    remainder as remainder,
    sign as sign,
    signbit as signbit,
    sin as sin,
    sinh as sinh,
    sqrt as sqrt,
    square as square,
    subtract as subtract,
    tan as tan,
    tanh as tanh,
    trunc as trunc,
)
from .ops.beyond.histogram import (
    bincount as bincount,
    histogram as histogram,
    histogram2d as histogram2d,
    histogram_bin_edges as histogram_bin_edges,
    histogramdd as histogramdd,
)
from .ops.indexing import take_along_axis as take_along_axis
from .ops.linear_algebra import matrix_transpose as matrix_transpose, tensordot as tensordot
from .ops.beyond.gufuncs import matmul as matmul, matvec as matvec, vecdot as vecdot, vecmat as vecmat
from .ops.manipulation import (
    broadcast_arrays as broadcast_arrays,
    broadcast_shapes as broadcast_shapes,
    broadcast_to as broadcast_to,
    concat as concat,
    expand_dims as expand_dims,
    flip as flip,
    moveaxis as moveaxis,
    permute_dims as permute_dims,
    repeat as repeat,
    reshape as reshape,
    roll as roll,
    squeeze as squeeze,
    stack as stack,
    tile as tile,
    unstack as unstack,
)
from .ops.beyond.ndarray import (
    around as around,
    cumprod as cumprod,
    cumsum as cumsum,
    diagonal as diagonal,
    dot as dot,
    ravel as ravel,
    swapaxes as swapaxes,
    take as take,
    transpose as transpose,
)
from .ops.beyond.types import (
    bool_ as bool_,
    byte as byte,
    cdouble as cdouble,
    complexfloating as complexfloating,
    csingle as csingle,
    double as double,
    floating as floating,
    generic as generic,
    half as half,
    inexact as inexact,
    int_ as int_,
    intc as intc,
    integer as integer,
    intp as intp,
    issubdtype as issubdtype,
    long as long,
    longlong as longlong,
    ndim as ndim,
    number as number,
    shape as shape,
    short as short,
    signedinteger as signedinteger,
    single as single,
    size as size,
    typecodes as typecodes,
    ubyte as ubyte,
    uint as uint,
    uintc as uintc,
    uintp as uintp,
    ulong as ulong,
    ulonglong as ulonglong,
    unsignedinteger as unsignedinteger,
    ushort as ushort,
)
from .ops.beyond.windows import (
    bartlett as bartlett,
    blackman as blackman,
    hamming as hamming,
    hanning as hanning,
    kaiser as kaiser,
)
from .kernels.compact import nonzero as nonzero
from .ops.beyond.mathematics import (
    bitwise_count as bitwise_count,
    cbrt as cbrt,
    deg2rad as deg2rad,
    degrees as degrees,
    divmod as divmod,
    exp2 as exp2,
    fabs as fabs,
    fix as fix,
    float_power as float_power,
    fmax as fmax,
    fmin as fmin,
    fmod as fmod,
    frexp as frexp,
    gcd as gcd,
    heaviside as heaviside,
    lcm as lcm,
    ldexp as ldexp,
    logaddexp2 as logaddexp2,
    modf as modf,
    rad2deg as rad2deg,
    radians as radians,
    rint as rint,
    spacing as spacing,
)
from .ops.beyond.nan_functions import (
    nanargmax as nanargmax,
    nanargmin as nanargmin,
    nancumprod as nancumprod,
    nancumsum as nancumsum,
    nanmax as nanmax,
    nanmean as nanmean,
    nanmin as nanmin,
    nanprod as nanprod,
    nanstd as nanstd,
    nansum as nansum,
    nanvar as nanvar,
)
from .ops.beyond.numbers import (
    angle as angle,
    ediff1d as ediff1d,
    i0 as i0,
    iscomplex as iscomplex,
    iscomplexobj as iscomplexobj,
    isneginf as isneginf,
    isposinf as isposinf,
    isreal as isreal,
    isrealobj as isrealobj,
    isscalar as isscalar,
    nan_to_num as nan_to_num,
    real_if_close as real_if_close,
    sinc as sinc,
    unwrap as unwrap,
)
from .ops.beyond.numerics import (
    geomspace as geomspace,
    gradient as gradient,
    interp as interp,
    logspace as logspace,
    trapezoid as trapezoid,
)
from .ops.beyond.poly1d import poly1d as poly1d
from .ops.beyond.polynomials import (
    poly as poly,
    polyadd as polyadd,
    polyder as polyder,
    polydiv as polydiv,
    polyfit as polyfit,
    polyint as polyint,
    polymul as polymul,
    polysub as polysub,
    polyval as polyval,
    roots as roots,
)
from .ops.beyond.products import (
    convolve as convolve,
    correlate as correlate,
    cross as cross,
    inner as inner,
    kron as kron,
    outer as outer,
    trace as trace,
    vdot as vdot,
)
from .ops.beyond.statistics import (
    average as average,
    corrcoef as corrcoef,
    cov as cov,
    ptp as ptp,
)
from .ops.beyond.pad import pad as pad
from .ops.beyond.quantile import (
    median as median,
    nanmedian as nanmedian,
    nanpercentile as nanpercentile,
    nanquantile as nanquantile,
    percentile as percentile,
    quantile as quantile,
)
from .ops.searching import (
    argmax as argmax,
    argmin as argmin,
    count_nonzero as count_nonzero,
    searchsorted as searchsorted,
    where as where,
)
from .ops.set import (
    isin as isin,
    unique_all as unique_all,
    unique_counts as unique_counts,
    unique_inverse as unique_inverse,
    unique_values as unique_values,
)
from .ops.sorting import argsort as argsort, sort as sort
from .ops.statistical import (
    cumulative_prod as cumulative_prod,
    cumulative_sum as cumulative_sum,
    max as max,
    mean as mean,
    min as min,
    prod as prod,
    std as std,
    sum as sum,
    var as var,
)
from .ops.utility import all as all, any as any, diff as diff
from .ops.beyond.applying import (
    apply_along_axis as apply_along_axis,
    apply_over_axes as apply_over_axes,
    frompyfunc as frompyfunc,
    vectorize as vectorize,
)
from .ops.beyond.bits import packbits as packbits, unpackbits as unpackbits
from .ops.beyond.choosing import (
    argwhere as argwhere,
    choose as choose,
    compress as compress,
    extract as extract,
    flatnonzero as flatnonzero,
    piecewise as piecewise,
    select as select,
)
from .ops.beyond.construction import (
    asanyarray as asanyarray,
    ascontiguousarray as ascontiguousarray,
    asfortranarray as asfortranarray,
    frombuffer as frombuffer,
    fromfunction as fromfunction,
    fromiter as fromiter,
    fromstring as fromstring,
    require as require,
)
from .ops.beyond.index_tricks import (
    c_ as c_,
    index_exp as index_exp,
    indices as indices,
    ix_ as ix_,
    mgrid as mgrid,
    ndenumerate as ndenumerate,
    ndindex as ndindex,
    ogrid as ogrid,
    r_ as r_,
    ravel_multi_index as ravel_multi_index,
    s_ as s_,
    unravel_index as unravel_index,
)
from .ops.beyond.joining import (
    append as append,
    atleast_1d as atleast_1d,
    atleast_2d as atleast_2d,
    atleast_3d as atleast_3d,
    block as block,
    column_stack as column_stack,
    dstack as dstack,
    hstack as hstack,
    row_stack as row_stack,
    vstack as vstack,
)
from .ops.beyond.matrices import (
    diag as diag,
    diag_indices as diag_indices,
    diag_indices_from as diag_indices_from,
    diagflat as diagflat,
    fill_diagonal as fill_diagonal,
    mask_indices as mask_indices,
    tri as tri,
    tril_indices as tril_indices,
    tril_indices_from as tril_indices_from,
    triu_indices as triu_indices,
    triu_indices_from as triu_indices_from,
    vander as vander,
)
from .ops.beyond.ordering import (
    argpartition as argpartition,
    digitize as digitize,
    lexsort as lexsort,
    partition as partition,
    sort_complex as sort_complex,
)
from .ops.beyond.placing import (
    copyto as copyto,
    place as place,
    put as put,
    put_along_axis as put_along_axis,
    putmask as putmask,
)
from .ops.beyond.rearranging import (
    delete as delete,
    fliplr as fliplr,
    flipud as flipud,
    insert as insert,
    resize as resize,
    rollaxis as rollaxis,
    rot90 as rot90,
    trim_zeros as trim_zeros,
)
from .ops.beyond.sets import (
    intersect1d as intersect1d,
    setdiff1d as setdiff1d,
    setxor1d as setxor1d,
    union1d as union1d,
    unique as unique,
)
from .ops.beyond.splitting import (
    array_split as array_split,
    dsplit as dsplit,
    hsplit as hsplit,
    split as split,
    vsplit as vsplit,
)

from math import (
    e as e,
    inf as inf,
    nan as nan,
    pi as pi,
)

bool = _bool
ndarray = VkArray
flatiter = _Flat
ufunc = _ufunc
dtype = _DType
euler_gamma = 0.5772156649015329
True_, False_ = True, False
little_endian = True  # as Vulkan asks of devices

# NumPy's other names for functions of the standard.
absolute, conjugate, power, mod, true_divide, round = abs, conj, pow, remainder, divide, around
arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh = acos, acosh, asin, asinh, atan, atan2, atanh
invert = bitwise_not = bitwise_invert
left_shift, right_shift = bitwise_left_shift, bitwise_right_shift
concatenate, amax, amin = concat, max, min

__version__ = "0.1.0"
__array_api_version__ = "2025.12"
newaxis = None


def cache_stats() -> dict[str, dict[str, int]]:
    """What the caches hold and how often they served, by kind, without errors.

    Compiled shaders, pipelines and choices, which are kept on disk: hits, misses and compiles of this process, and bytes. Plans,
    which repeat the dispatches of calls: functions that have any, signatures that are known, calls repeated, calls watched to make
    a plan.
    """
    return {**_cache_statistics(), "plans": _plan_statistics()}


def set_default_dtype(dtype: object) -> None:
    """Choose the default floating type: that of Python floats, of creation functions, and of what integers lead to.

    Parameters: dtype (float32, with which a process begins, or float64, with which results have NumPy's own types). The variable
    VKARRAY_DEFAULT_FLOAT chooses it for a process, `with vkarray.config(default_float="float64"):` for a block.
    Raises ConfigurationError for another type.
    """
    _set_value("default_float", "float64" if dtype is float else dtype)


def get_default_dtype() -> _DType:
    """The default floating type (see `set_default_dtype`). It raises nothing."""
    return _default_floating()


def check_api_version(version: str | None) -> None:
    """Check a version of the standard. Raises ValueError unless it is None or one that vkarray follows."""
    if version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        raise ValueError(f"__array_namespace__: expected api_version up to {__array_api_version__}, got {version!r}.")


globals().pop("annotations")
__all__ = [
    *_lazy.NAMESPACE,
    *(
        name
        for name, value in globals().items()
        if not name.startswith("_") and (value in (exceptions, fft, lib, linalg) or type(value) is not type(_sys))
    ),
]


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
