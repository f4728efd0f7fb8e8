"""Sparse and quantized tensors, which the device has none of: every way to make one says so, and what to do instead."""

from __future__ import annotations

from typing import Any

import torch

_OF_KEY = {
    "SparsePrivateUse1": "sparse",
    "SparseCsrPrivateUse1": "compressed sparse",
    "QuantizedPrivateUse1": "quantized",
    "NestedTensorPrivateUse1": "nested strided",
}
_INSTEAD = {
    "sparse": "Use a dense one (x.to_dense()), or keep it on the CPU.",
    "compressed sparse": "Use a dense one (x.to_dense()), or keep it on the CPU.",
    "quantized": "Use x.dequantize(), or keep it on the CPU.",
    "MKL-DNN": "These are of the CPU: call x.cpu() before.",
    "nested strided": "Make it with layout=torch.jagged, or keep it on the CPU.",
}


def refusal(op: Any, kind: str) -> NotImplementedError:
    """The error for an operator that would make a tensor of a kind that the device lacks."""
    return NotImplementedError(f"{op}: the device vulkan has no {kind} tensors. {_INSTEAD[kind]}")


def check(op: Any, made: torch.Tensor) -> None:
    """Raise NotImplementedError for a tensor of a kind that the device lacks."""
    if made.is_quantized:
        raise refusal(op, "quantized")
    if made.layout is not torch.strided:
        raise refusal(op, {torch.sparse_coo: "sparse", torch._mkldnn: "MKL-DNN"}.get(made.layout, "compressed sparse"))


_library = torch.library.Library("_", "IMPL")


def _refuse(key: str, kind: str) -> None:
    def kernel(op: Any, *args: Any, **kwargs: Any) -> Any:
        raise refusal(op, kind)

    _library.fallback(kernel, key)


for _key, _kind in _OF_KEY.items():
    _refuse(_key, _kind)

# These have kernels of PyTorch's for all keys, which make tensors of parts.
_makers = torch.library.Library("aten", "IMPL")
for _op in (
    torch.ops.aten.sparse_compressed_tensor.comp_plain_value, torch.ops.aten.sparse_compressed_tensor.comp_plain_value_size,
    torch.ops.aten._sparse_compressed_tensor_unsafe.default,
):  # fmt: skip

    def _maker(*args: Any, _op: Any = _op, **kwargs: Any) -> Any:
        raise refusal(_op, "compressed sparse")

    _makers.impl(_op, _maker, "SparseCsrPrivateUse1")
    _makers.impl(_op, _maker, "PrivateUse1")
