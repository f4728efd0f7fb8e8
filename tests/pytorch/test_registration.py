"""When PyTorch gets the device: whatever was done before the import, and never at the cost of another accelerator's gradients."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

# What PyTorch with CUDA answers on a machine with one GPU.
WITH_CUDA = """
    import torch
    torch.accelerator.current_accelerator = lambda check_available=False: torch.device("cuda")
    torch.accelerator.device_count = lambda: 1
"""


def run(program, hidden=True):
    """What a program writes to its error stream in a process of its own, where CUDA's devices are hidden or not."""
    text = "\n".join(textwrap.dedent(part) for part in program)
    environment = {name: value for name, value in os.environ.items() if hidden or name != "CUDA_VISIBLE_DEVICES"}
    done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


TRAIN = """
    x = torch.ones(3, requires_grad=True, device="vulkan")
    (x * x).sum().backward()
    (x * x).sum().cpu().backward()
    assert x.grad.tolist() == [4] * 3
    assert torch.autograd.grad((x * x).sum(), x)[0].tolist() == [2] * 3
    assert torch.accelerator.current_accelerator().type == "vulkan"
"""


def test_backward_passes_on_the_cpu_may_come_first():
    run(["import torch", "torch.ones(3, requires_grad=True).sum().backward()", "import vkarray.torch", TRAIN])


def test_another_accelerator_keeps_its_gradients_until_the_device_is_asked_for():
    said = run([
        WITH_CUDA,
        """
        before = torch._C._accelerator_getAccelerator()
        torch.ones(3, requires_grad=True).sum().backward()
        import vkarray.torch
        assert torch._C._accelerator_getAccelerator() == before  # which autograd's engine asks
        try:
            torch.ones(3, device="vulkan")
        except RuntimeError as error:
            assert "register_device" in str(error)
        else:
            raise AssertionError("made a tensor")
        vkarray.torch.register_device()
        vkarray.torch.register_device()
        torch.accelerator.current_accelerator = torch._C._accelerator_getAccelerator
        """,
        TRAIN,
    ])  # fmt: skip
    assert "computes gradients on one accelerator" in said
    assert "vkarray.torch.register_device()" in said


CUDA_TRAINS = """
    y = torch.ones(3, requires_grad=True, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        (y * y).sum().backward()
    assert y.grad.tolist() == [2] * 3
    assert torch.accelerator.current_accelerator().type == "cuda"
"""


@pytest.mark.parametrize("first", ["vkarray.torch", "cuda"])
def test_cuda_stays_as_it_was(first):
    """With a real device of CUDA, whether it was used before the import or not."""
    if "True" not in run(["import sys, torch", "print(torch.cuda.is_available(), file=sys.stderr)"], hidden=False):
        pytest.skip("PyTorch finds no device of CUDA here")
    used = [CUDA_TRAINS] if first == "cuda" else []
    said = run(["import torch", *used, "import vkarray.torch", CUDA_TRAINS], hidden=False)
    assert "vkarray.torch.register_device()" in said
    run(["import torch", *used, "import vkarray.torch", "vkarray.torch.register_device()", TRAIN], hidden=False)


def test_an_accelerator_without_a_device_costs_nothing():
    run([WITH_CUDA, "torch.accelerator.device_count = lambda: 0", "import vkarray.torch",
         "assert torch._C._accelerator_getAccelerator().type == 'vulkan'"])  # fmt: skip


def test_a_device_named_before_the_import_is_refused_in_words():
    run(["""
        import torch
        early = torch.device("vulkan")
        import vkarray.torch
        for make in (torch.ones, torch.randn, torch.empty):
            try:
                make(2, device=early)
            except RuntimeError as error:
                assert "made before" in str(error)
            else:
                raise AssertionError("made a tensor")
    """])  # fmt: skip
