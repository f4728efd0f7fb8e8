"""`torch.autocast("vulkan")`: which operators it casts, after PyTorch's own lists for CUDA."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from .dispatch import table
from .dispatch.fallback import mapped

_ExcludeDispatchKeyGuard = torch._C._ExcludeDispatchKeyGuard
_KEYS = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)

LOWER_PRECISION = """
    conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d.input conv_transpose3d.input convolution _convolution
    prelu addmm addmv addr matmul einsum mm mv linalg_vecdot linear addbmm baddbmm bmm chain_matmul linalg_multi_dot
    lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell scaled_dot_product_attention
"""
FLOAT32 = """
    acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow.Tensor_Scalar pow.Tensor_Tensor
    pow.Scalar softplus layer_norm native_layer_norm group_norm frobenius_norm.dim nuclear_norm nuclear_norm.dim
    cosine_similarity poisson_nll_loss cosine_embedding_loss nll_loss nll_loss2d hinge_embedding_loss kl_div l1_loss
    smooth_l1_loss huber_loss mse_loss margin_ranking_loss multilabel_margin_loss soft_margin_loss triplet_margin_loss
    multi_margin_loss binary_cross_entropy_with_logits dist pdist cdist renorm logsumexp upsample_nearest1d
    upsample_nearest2d upsample_nearest3d upsample_linear1d upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d
"""
# Sums and the like keep the type of their input, and compute and return float32 unless another type is asked for.
FLOAT32_RESULT = """
    prod prod.dim_int softmax.int log_softmax.int cumprod cumsum sum sum.dim_IntList
"""
WIDEST = """
    addcdiv addcmul atan2 bilinear cross dot vdot grid_sampler index_put tensordot scatter_add cat stack
"""


_CAST = frozenset((torch.float16, torch.bfloat16, torch.float32))  # the types that are cast


def _eligible(tensor: Tensor) -> bool:
    return tensor.dtype in _CAST and tensor.device.type == "vulkan"


# Casts of parameters in the context that is open, as PyTorch keeps them for its own devices: (parameter, version, cast).
_casts: dict[tuple[int, torch.dtype, bool], tuple[weakref.ref[Tensor], int, Tensor]] = {}


def _cast_one(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    own = tensor.dtype
    if own is dtype or own not in _CAST or tensor.device.type != "vulkan":
        return tensor
    kept = own is torch.float32 and tensor.requires_grad and tensor.is_leaf and not tensor._is_view()
    if not (kept and torch.is_autocast_cache_enabled()):
        return tensor.to(dtype)
    key, version = (id(tensor), dtype, torch.is_grad_enabled()), tensor._version
    found = _casts.get(key)
    if found is None or found[0]() is not tensor or found[1] != version:
        found = _casts[key] = weakref.ref(tensor), version, tensor.to(dtype)
    return found[2]


_clear = torch.clear_autocast_cache


def _clear_casts() -> None:
    """What PyTorch calls when the last context closes: its own cache, and that of the device."""
    _casts.clear()
    _clear()


torch.clear_autocast_cache = _clear_casts


def _cast(value: Any, dtype: torch.dtype) -> Any:
    """An argument with its tensors, in lists and tuples too, in another type."""
    if isinstance(value, Tensor):
        return _cast_one(value, dtype)
    return mapped(lambda tensor: _cast_one(tensor, dtype), value) if isinstance(value, (list, tuple)) else value


def _tensors(values: Iterable[Any]) -> list[Tensor]:
    found: list[Tensor] = []
    mapped(lambda tensor: found.append(tensor) or tensor, list(values))  # type: ignore[func-returns-value]
    return found


def _lower_precision(args: Any, kwargs: dict[str, Any]) -> torch.dtype | None:
    return torch.get_autocast_dtype("vulkan")


def _float32(args: Any, kwargs: dict[str, Any]) -> torch.dtype | None:
    return torch.float32


def _widest(args: Any, kwargs: dict[str, Any]) -> torch.dtype | None:
    types = [one.dtype for one in _tensors([*args, *kwargs.values()]) if _eligible(one)]
    if not types:
        return None
    return torch.float32 if torch.float32 in types or len(set(types)) > 1 else types[0]


def in_float32(find: Callable[[], Any]) -> Callable[..., Any]:
    """A kernel for autocast of the operator that `find` finds: in float32, its results in the type of the first argument."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        with _ExcludeDispatchKeyGuard(_KEYS):
            result = find()(*[_cast(one, torch.float32) for one in args], **kwargs)
            return mapped(lambda one: one.to(args[0].dtype) if one.is_floating_point() else one, result)

    return kernel


def _register(names: str, choose: Callable[[Any, dict[str, Any]], torch.dtype | None]) -> None:
    for name in names.split():
        packet, _, overload = name.partition(".")
        op = getattr(getattr(torch.ops.aten, packet), overload or "default")

        def kernel(*args: Any, _call: Any = op._op, **kwargs: Any) -> Any:
            dtype = choose(args, kwargs)
            with _ExcludeDispatchKeyGuard(_KEYS):
                if dtype is not None:
                    args = tuple([_cast(one, dtype) for one in args])
                    if kwargs:
                        kwargs = {key: _cast(value, dtype) for key, value in kwargs.items()}
                return _call(*args, **kwargs)

        table.library.impl(op, kernel, "AutocastPrivateUse1")


def _register_result(names: str) -> None:
    for name in names.split():
        packet, _, overload = name.partition(".")
        op = getattr(getattr(torch.ops.aten, packet), overload or "default")
        place = next(index for index, one in enumerate(op._schema.arguments) if one.name == "dtype")

        def kernel(*args: Any, _call: Any = op._op, _place: int = place, **kwargs: Any) -> Any:
            given = args[_place] if len(args) > _place else kwargs.get("dtype")
            with _ExcludeDispatchKeyGuard(_KEYS):
                if given is None and _eligible(args[0]):
                    return _call(*args[:_place], **{**kwargs, "dtype": torch.float32})
                return _call(*args, **kwargs)

        table.library.impl(op, kernel, "AutocastPrivateUse1")


_register(LOWER_PRECISION, _lower_precision)
_register(FLOAT32, _float32)
_register(WIDEST, _widest)
_register_result(FLOAT32_RESULT)
