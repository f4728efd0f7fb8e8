"""What steps of training cost the host, in commands to the device and in calls of vkarray's functions: both only shrink."""

from __future__ import annotations

import contextlib
import sys
import threading
from pathlib import Path

import pytest
import torch
from torch import nn

import vkarray as vx
from vkarray import configuration
from vkarray.core import dtypes
from vkarray.core.array import is_supported
from vkarray.kernels.reductions import partial_dtype
from vkarray.torch import device as devices
from vkarray.torch.tensors.storage import FROM_TORCH

pytestmark = pytest.mark.skipif(
    configuration.current().compare, reason="functions run as they are while results are compared"
)

LAYERS = 3


class Attention(nn.Module):
    """A layer of a transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = nn.LayerNorm(16), nn.LayerNorm(16)
        self.query, self.key, self.value, self.out = (nn.Linear(16, 16) for _ in range(4))
        self.wide, self.narrow = nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normal = self.before(x)
        heads = [part(normal).view(2, 6, 4, 4).transpose(1, 2) for part in (self.query, self.key, self.value)]
        found = nn.functional.scaled_dot_product_attention(*heads)
        x = x + self.out(found.transpose(1, 2).reshape(2, 6, 16))
        return x + self.narrow(nn.functional.gelu(self.wide(self.after(x))))


class Halves(nn.Module):
    """What rotates positions and gates: slices, concatenation, products."""

    def __init__(self) -> None:
        super().__init__()
        self.both = nn.Linear(16, 32, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate, up = self.both(x).chunk(2, -1)
        x = nn.functional.silu(gate) * up
        return torch.cat([-x[..., 8:], x[..., :8]], -1)


def _convolution() -> nn.Module:
    return nn.Sequential(nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU6())


# By name: a layer, the shape of its input, the type under autocast, and the most commands and calls of a step of LAYERS of them.
STEPS = {
    "attention": (Attention, (2, 6, 16), None, 157, 3020),
    "attention, autocast": (Attention, (2, 6, 16), torch.bfloat16, 301, 5000),
    "attention, scaled": (Attention, (2, 6, 16), torch.float16, 327, 5440),
    "halves": (Halves, (2, 6, 16), None, 71, 1380),
    "convolution": (_convolution, (2, 4, 8, 8), None, 46, 1257),
}  # fmt: skip

_FOLDER = str(Path(vx.__file__).parent)


def _allowance() -> float:
    """How many times the figures of llvmpipe a step may take: other devices, and modes that look at dispatches, take others."""
    on = devices.at(0)
    looked_at = on.memory.guards or on.queue.recorder.checker or on.queue.timing_sinks or configuration.shows_dispatches
    halves = all(is_supported(one, on) for one in (dtypes.float16, dtypes.bfloat16))
    return 1.1 if on.limits.is_cpu and halves and not looked_at else 2.0


@contextlib.contextmanager
def _calls():
    """A list that gets a name for each call of a function of vkarray, and of code that it has made."""
    found: list[str] = []
    ours: dict[object, bool] = {}

    def note(frame, event, argument):
        if event == "call":
            code = frame.f_code
            if code not in ours:
                ours[code] = code.co_filename.startswith((_FOLDER, "<string>"))
            if ours[code]:
                found.append(code.co_name)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


@pytest.mark.parametrize("name", STEPS)
def test_a_step_takes_no_more_commands_and_calls(name):
    make, shape, dtype, most_commands, most_calls = STEPS[name]
    if dtype is not None and not is_supported(FROM_TORCH[dtype], devices.at(0)):
        pytest.skip(f"the device has no {dtype}")
    torch.manual_seed(2)
    model = nn.Sequential(*[make() for _ in range(LAYERS)]).to("vulkan")
    x = torch.randn(shape).to("vulkan")
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = torch.amp.GradScaler("vulkan", enabled=dtype is torch.float16, init_scale=16.0)

    def step() -> None:
        optimizer.zero_grad()
        with torch.autocast("vulkan", dtype, enabled=dtype is not None):
            loss = model(x).square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    queue = devices.at(0).queue
    with torch.autograd.set_multithreading_enabled(False):  # else PyTorch's threads make calls that nobody counts
        for _ in range(3):
            step()
        torch.vulkan.synchronize()
        before = queue.serial
        with _calls() as found:
            step()
    commands = queue.serial - before
    assert commands <= most_commands * _allowance()
    assert len(found) <= most_calls * _allowance()


# By name: a layer for channels, the shape of its input, and the most commands forth and back, of sums in one chunk.
NORMS = {
    "batch norm": (nn.BatchNorm2d, (3, 4, 6, 8), 2, 2),
    "batch norm without statistics": (lambda count: nn.BatchNorm2d(count, track_running_stats=False), (3, 4, 6, 8), 2, 2),
    "batch norm, plain": (lambda count: nn.BatchNorm2d(count, affine=False), (3, 4, 6, 8), 2, 2),
    "batch norm of vectors": (nn.BatchNorm1d, (5, 4), 2, 2),
    "instance norm": (nn.InstanceNorm2d, (3, 4, 6, 8), 2, 2),
    "group norm": (lambda count: nn.GroupNorm(2, count), (3, 4, 6, 8), 2, 6),
    "layer norm": (lambda count: nn.LayerNorm(count), (6, 4), 1, 3),
}  # fmt: skip
FORMATS = {"contiguous": torch.contiguous_format, "channels last": torch.channels_last}
# How far results may be from those of the CPU in float64, by the type.
TYPES = {torch.float32: 2e-6, torch.float64: 1e-13, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def _commands(call, *given):
    """What a call returns, and the commands that it takes."""
    queue = devices.at(0).queue
    before = queue.serial
    found = call(*given)
    return found, queue.serial - before


_CASES = [
    *[("batch norm", format, dtype) for format in FORMATS for dtype in TYPES],
    *[(name, "contiguous", torch.float32) for name in NORMS if name != "batch norm"],
    ("group norm", "channels last", torch.float32),
]


@pytest.mark.parametrize(("name", "format", "dtype"), _CASES, ids=lambda one: str(one))
def test_a_norm_takes_few_commands_and_is_accurate(name, format, dtype):
    make, shape, forth, back = NORMS[name]
    if not is_supported(FROM_TORCH[dtype], devices.at(0)):
        pytest.skip(f"the device has no {dtype}")
    torch.manual_seed(3)
    memory, allowed = FORMATS[format], TYPES[dtype]
    ours = make(shape[1]).to(dtype)
    for one in ours.parameters():
        nn.init.normal_(one)
    model = make(shape[1]).double()
    model.load_state_dict(ours.state_dict())
    ours.to("vulkan")
    values, gradients = (torch.randn(shape).to(dtype).contiguous(memory_format=memory) for _ in range(2))
    x, gradient = values.to("vulkan").requires_grad_(), gradients.to("vulkan")
    exact = values.double().requires_grad_()
    wanted, there = [exact, *model.parameters()], [x, *ours.parameters()]
    with torch.autograd.set_multithreading_enabled(False):
        for _ in range(3):  # the last by plans
            result, commands = _commands(ours, x)
            found, commands_back = _commands(torch.autograd.grad, result, there, gradient)
            expected = model(exact)
            needed = torch.autograd.grad(expected, wanted, gradients.double())
    for one, other in zip([result, *found, *ours.buffers()], [expected, *needed, *model.buffers()], strict=True):
        bound = allowed * max(1.0, float(other.detach().abs().max()))
        torch.testing.assert_close(one.detach().cpu().double(), other.detach().double(), rtol=allowed, atol=bound)
    if "last" not in format or "batch" in name:  # groups are copied from channels last
        assert result.stride() == expected.stride()
        assert commands <= (forth + bool(dict(ours.named_buffers()))) * _allowance()  # one counts the batches
        casts = (
            0 if partial_dtype(FROM_TORCH[dtype]) is FROM_TORCH[dtype] else len(there) - 1
        )  # of what is summed in float32
        assert commands_back <= (back + casts) * _allowance()


def test_a_pointwise_convolution_of_one_image_is_one_product_forth_and_two_back():
    """Its windows are the places of the image: nothing is copied, also where rows are no whole packs."""
    values, weights, gradients = torch.randn(1, 6, 7, 7), torch.randn(8, 6, 1, 1), torch.randn(1, 8, 7, 7)
    x, weight = (one.to("vulkan").requires_grad_() for one in (values, weights))
    gradient = gradients.to("vulkan")
    with torch.autograd.set_multithreading_enabled(False):
        for _ in range(3):
            result, commands = _commands(nn.functional.conv2d, x, weight)
            found, commands_back = _commands(torch.autograd.grad, result, (x, weight), gradient)
    inputs = [one.double().requires_grad_() for one in (values, weights)]
    expected = nn.functional.conv2d(*inputs)
    for one, other in zip(
        [result, *found], [expected, *torch.autograd.grad(expected, inputs, gradients.double())], strict=True
    ):
        torch.testing.assert_close(one.detach().cpu().double(), other.detach(), rtol=1e-5, atol=1e-4)
    assert commands <= _allowance()
    assert commands_back <= 2 * _allowance()
