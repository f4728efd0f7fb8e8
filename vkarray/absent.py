"""What to write in place of names that NumPy and other libraries have, now or formerly, and vkarray has not: for the error."""

from __future__ import annotations

_NUMBERS = "arrays hold numbers alone. Keep texts, dates, objects and records in NumPy's arrays or in lists"
_MATRIX = "arrays of two dimensions stand for matrices: vkarray.array, @ for their product, vkarray.block for blocks"
_LONGEST = "no device has a longer type than float64 and complex128"
_PYTHON = "use Python's own type of that name"

_BY_REASON = {
    _MATRIX: "asmatrix bmat mat matrix matlib",
    _NUMBERS: "busday_count busday_offset busdaycalendar bytes_ char character chararray datetime64 datetime_as_string "
    "datetime_data flexible is_busday isnat object0 object_ rec recarray record str0 str_ string_ strings timedelta64 unicode_ "
    "void void0",
    _LONGEST: "clongdouble clongfloat complex256 float128 longcomplex longdouble longfloat",
    _PYTHON: "complex float int long object str",
    "masks are arrays of bools: where=, vkarray.where, x[mask], and the functions that leave out NaN, such as nanmean": "ma",
    "map the file with numpy.memmap, and give parts of it to vkarray.asarray": "memmap",
    "numpy.asarray(x) makes a NumPy array of one": "asnumpy",
    "take it from NumPy": "ScalarType ctypeslib dtypes f2py fromregex get_include nested_iters sctypeDict test",
    "devices do not tell of floating-point errors": "geterrcall seterrcall",
    "x.item() gives the number that an array of one element holds": "asscalar",
    "elements pass through no buffer that has a size": "getbufsize setbufsize",
    "x.__array_namespace__() is the library of an array": "get_array_module",
    "vkarray.__array_namespace_info__().devices() lists devices, device= chooses one, x.device is an array's": "Device cuda device "
    "device_count devices",
    "x.device.synchronize() waits for a device": "synchronize",
    "x.to_device(device) moves an array": "device_put to_device",
    "x.device.memory_statistics() tells of memory": "get_default_memory_pool get_default_pinned_memory_pool",
    "vkarray.kernel takes GLSL in place of CUDA": "RawKernel RawModule",
    "PyTorch finds gradients, on its device vulkan": "autograd backward grad jacfwd jacrev no_grad value_and_grad",
    "functions broadcast: give arrays one axis more, or take vkarray.vectorize": "vmap",
    "vkarray.maximum(x, 0)": "relu",
    "SciPy's functions take arrays of vkarray with SCIPY_ARRAY_API=1: scipy.special": "logsumexp softmax special",
}
# Other names of what vkarray has.
_NAMES = {
    "Inf": "inf", "Infinity": "inf", "NAN": "nan", "NINF": "-inf", "NZERO": "-0.0", "NaN": "nan", "PINF": "inf", "PZERO": "0.0",
    "alltrue": "all", "asfarray": "asarray", "bool8": "bool", "cast": "astype", "cat": "concat",
    "complex_": "complex128", "cumproduct": "cumprod", "find_common_type": "result_type", "float_": "float64",
    "from_numpy": "asarray", "fuse": "compile", "in1d": "isin", "infty": "inf", "int0": "intp", "jit": "compile", "msort": "sort",
    "product": "prod", "round_": "round", "singlecomplex": "complex64", "sometrue": "any", "tensor": "asarray",
    "show_runtime": "show_config", "trapz": "trapezoid", "uint0": "uintp",
    # PyTorch's
    "Tensor": "ndarray", "bmm": "matmul", "chunk": "array_split", "clamp": "clip", "clone": "copy", "div": "divide",
    "gather": "take_along_axis", "index_select": "take", "manual_seed": "random.seed", "masked_fill": "where", "mm": "matmul",
    "mul": "multiply", "numel": "size", "permute": "permute_dims", "sub": "subtract", "unsqueeze": "expand_dims",
}  # fmt: skip
# Names that are in a module below, and asked for in the namespace.
_BELOW = {
    "fft": "fft2 fftfreq fftn fftshift ifft ifft2 ifftn ifftshift irfft rfft rfftfreq",
    "linalg": "cholesky cond det eig eigh eigvals eigvalsh inv lstsq matrix_power matrix_rank multi_dot norm pinv qr slogdet solve "
    "svd",
    "random": "choice default_rng normal permutation rand randint randn seed shuffle uniform",
}
_NAMES.update({name: f"{module}.{name}" for module, names in _BELOW.items() for name in names.split()})


def remedy(name: str) -> str:
    """The end of the error for a name: what to do, or nothing where there is no more to say."""
    if name in _NAMES:
        value = _NAMES[name]
        return f": here it is {value if value.startswith('-') or value == '0.0' else f'vkarray.{value}'}."
    return next((f": {reason}." for reason, names in _BY_REASON.items() if name in names.split()), "")
