"""Random numbers of further distributions, and samples of given probabilities."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from ...core import dtypes
from ...core.array import VkArray, is_supported
from ...kernels.conversion import cast
from ...nn import sampling
from ...ops.beyond.random import drawn
from ..dispatch import results, table
from ..dispatch.table import direct
from ..tensors.storage import array_of, wrap
from . import random

# -- normal numbers around given ones ---------------------------------------------------------------------------------


def _around(op: Any, mean: Any, std: Any, generator: Any, out: Tensor | None = None) -> Tensor:
    """Normal numbers with means and standard deviations of which one is a tensor, or both are."""
    given = [one for one in (mean, std) if isinstance(one, Tensor)]
    if isinstance(std, Tensor):
        if std.is_complex():
            raise RuntimeError("normal expects standard deviation to be non-complex")
        if std.numel() and not bool(std.min() >= 0):
            raise RuntimeError("normal expects all elements of std >= 0.0")
    elif not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    shape = torch.broadcast_shapes(*(one.shape for one in given))
    if out is not None:
        made = table.resized(out, shape)
    else:
        (look,) = results.listed(results.inferred(op, (mean, std), {}))
        assert look is not None
        made = torch.empty_strided(look.shape, look.strides, dtype=look.dtype, device=given[0].device)
    numbers = torch.empty(shape, dtype=made.dtype, device=made.device).normal_(generator=generator)
    return made.copy_(numbers.mul_(std).add_(mean))


def _register_normal(name: str) -> None:
    op = getattr(torch.ops.aten.normal, name)

    def drawn(mean: Any, std: Any = 1.0, *, generator: Any = None) -> Tensor:
        return _around(op, mean, std, generator)

    def drawn_out(mean: Any, std: Any = 1.0, *, generator: Any = None, out: Tensor) -> Tensor:
        return _around(op, mean, std, generator, out)

    direct(f"normal.{name}", drawn)
    direct(f"normal.{name}_out", drawn_out)


for _name in ("Tensor_float", "float_Tensor", "Tensor_Tensor"):
    _register_normal(_name)

# -- transformed uniform and normal numbers ---------------------------------------------------------------------------


def _in_place(tensor: Tensor, numbers: Tensor) -> Tensor:
    table.check_target(tensor)
    return tensor.copy_(numbers)


def _drawn(tensor: Tensor, generator: Any) -> Tensor:
    """Numbers in (0, 1] of a shape, wide enough to compute with."""
    wide = tensor.dtype if tensor.dtype in (torch.float32, torch.float64) else torch.float32
    return 1 - torch.empty(tensor.shape, dtype=wide, device=tensor.device).uniform_(generator=generator)


def _cauchy(tensor: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None) -> Tensor:
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    random._check_floating("cauchy", tensor)
    return _in_place(tensor, (_drawn(tensor, generator) - 0.5).mul_(math.pi).tan_().mul_(sigma).add_(median))


def _log_normal(tensor: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Any = None) -> Tensor:
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    random._check_floating("log_normal", tensor)
    numbers = torch.empty_like(_drawn(tensor, generator))
    return _in_place(tensor, numbers.normal_(mean, std, generator=generator).exp_())


def _geometric(tensor: Tensor, p: float, *, generator: Any = None) -> Tensor:
    """How many trials of a probability it takes to succeed."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    trials = _drawn(tensor, generator).log_().div_(math.log1p(-p)).ceil_().clamp_min_(1)
    return _in_place(tensor, trials)


direct("cauchy_", _cauchy)
direct("log_normal_", _log_normal)
direct("geometric_", _geometric)

# -- samples of probabilities -----------------------------------------------------------------------------------------


def _check_probabilities(p: Tensor, count: int, replacement: bool) -> None:
    """Raise PyTorch's RuntimeErrors; sums and limits are read back, as PyTorch does on every device."""
    if p.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if not p.is_floating_point():
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {table.SCALAR_NAMES[p.dtype]}"
        )
    if count <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and count > p.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if p.shape[-1] > 1 << 24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    if p.numel():
        if not bool((p.max() < math.inf) & (p.min() >= 0)):
            raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
        if bool((p.sum(-1) == 0).any()):
            raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


def _multinomial(p: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Places drawn by their probabilities: those whose probability divided by an exponential number is largest.

    Method: exponential races; with replacement, as many races as samples.
    """
    _check_probabilities(p, num_samples, replacement)
    wide = p if p.dtype in (torch.float32, torch.float64) else p.float()
    races = replacement and num_samples > 1
    if races:
        wide = wide.unsqueeze(-2).expand(*p.shape[:-1], num_samples, p.shape[-1])
    times = torch.empty(wide.shape, dtype=wide.dtype, device=wide.device).exponential_(generator=generator)
    quotients = wide / times.clamp_min_(torch.finfo(wide.dtype).tiny)  # what has no probability never wins
    if races:
        return quotients.argmax(-1)
    return quotients.argmax(-1, keepdim=True) if num_samples == 1 else quotients.topk(num_samples).indices


direct("multinomial", _multinomial)
direct("multinomial.out", table.with_out(_multinomial))

# -- leaky rectifiers with random slopes ------------------------------------------------------------------------------


def _rrelu(
    x: Tensor, noise: Tensor, lower: Any = 0.125, upper: Any = 1 / 3, training: bool = False, generator: Any = None
) -> Tensor:  # fmt: skip
    if not training:
        return torch.nn.functional.leaky_relu(x, (lower + upper) / 2)
    slopes = torch.empty(x.shape, dtype=x.dtype, device=x.device).uniform_(lower, upper, generator=generator)
    noise.copy_(torch.where(x <= 0, slopes, 1))
    return x * noise


def _rrelu_in_place(x: Tensor, *arguments: Any, **named: Any) -> Tensor:
    table.check_target(x)
    return x.copy_(_rrelu(x, *arguments, **named))


direct("rrelu_with_noise", _rrelu)
direct("rrelu_with_noise_", _rrelu_in_place)
direct("rrelu_with_noise.out", table.with_out(_rrelu))

# -- numbers drawn until they fit -------------------------------------------------------------------------------------


def _parameter(name: str, x: Tensor) -> VkArray:
    random._check_floating(name, x)
    return array_of(x if x.dtype in (torch.float32, torch.float64) else x.float())


def _poisson(mean: Tensor, generator: Any = None) -> Tensor:
    """Counts with these means. Raises PyTorch's RuntimeError for a negative one, for which it waits for the device."""
    made = drawn(random.generator_of(mean, generator), "poisson", _parameter("poisson", mean))
    if mean.numel() and not bool((mean >= 0).all()):
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    return wrap(made).to(mean.dtype)


def _binomial(count: Tensor, prob: Tensor, generator: Any = None) -> Tensor:
    if count.dtype is not prob.dtype:
        raise RuntimeError(
            f"Binomial: expected parameters of one floating-point type, got {count.dtype} and {prob.dtype}"
        )
    parameters = _parameter("binomial", count), _parameter("binomial", prob)
    made = drawn(random.generator_of(count, generator), "binomial", *parameters)
    return wrap(made).to(count.dtype)


def _standard_gamma(shape: Tensor, generator: Any = None) -> Tensor:
    made = wrap(drawn(random.generator_of(shape, generator), "gamma", _parameter("gamma", shape)))
    return made.clamp_min_(torch.finfo(made.dtype).tiny).to(shape.dtype)


def _sample_dirichlet(alpha: Tensor, generator: Any = None) -> Tensor:
    """Gamma-distributed numbers over their sum, none of them 0 or 1."""
    made = wrap(drawn(random.generator_of(alpha, generator), "gamma", _parameter("dirichlet", alpha)))
    limits = torch.finfo(made.dtype)
    shares = made / made.sum(-1, keepdim=True)
    return shares.clamp_(limits.tiny, 1 - limits.eps / 2).to(alpha.dtype)


def _in_double(formula: Any) -> Any:
    """A formula that loses digits: computed in float64, where the device has it."""

    def kernel(*operands: Tensor) -> Tensor:
        arrays = [array_of(one) for one in operands]
        wide = dtypes.float64 if is_supported(dtypes.float64, arrays[0]._device) else dtypes.float32
        return wrap(cast(formula(*(cast(one, wide) for one in arrays)), arrays[0]._dtype))

    kernel.__module__ = __name__
    return kernel


_DRAWN: dict[str, Any] = {
    "poisson": _poisson, "binomial": _binomial, "_standard_gamma": _standard_gamma, "_sample_dirichlet": _sample_dirichlet,
    "_standard_gamma_grad": _in_double(sampling.gamma_sample_gradient),
    "_dirichlet_grad": _in_double(sampling.beta_sample_gradient),
}  # fmt: skip
for _name, _function in _DRAWN.items():
    direct(_name, _function)
