"""CONTRIBUTING.md's recipe for an operator of PyTorch, carried out as written: in a process of its own, which keeps the row."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")

BEFORE = """
import torch

import vkarray as vx
import vkarray.torch
from vkarray import VkArray
from vkarray.torch.dispatch.plans import Plans
from vkarray.torch.dispatch.table import TABLE, native

vkarray.torch.register_device()
assert "mish_backward" not in TABLE
"""

AFTER = """
assert TABLE["mish_backward"].kind == "native"
with vkarray.torch.strict():
    for dtype in (torch.float32, torch.float16):
        for shape in ((3, 50), (0, 2)):
            for _ in range(3):  # by itself, watched, by its plan
                x, gradient = torch.randn(2, *shape).to(dtype)
                expected = torch.ops.aten.mish_backward(gradient.float(), x.float())
                result = torch.ops.aten.mish_backward(gradient.to("vulkan"), x.to("vulkan"))
                assert result.dtype is dtype
                tolerance = 64 * torch.finfo(dtype).eps
                torch.testing.assert_close(result.cpu().float(), expected, rtol=tolerance, atol=tolerance)
    x = torch.randn(8, device="vulkan", requires_grad=True)
    torch.nn.functional.mish(x).sum().backward()
    here = x.detach().cpu().requires_grad_()
    torch.nn.functional.mish(here).sum().backward()
    torch.testing.assert_close(x.grad.cpu(), here.grad, rtol=1e-5, atol=1e-5)
assert any(plans.repeated for plans in Plans.all if "kernel" in plans.name)
"""


def test_operator_as_written():
    section = TEXT.partition("## Add an operator of PyTorch\n")[2].partition("\n## ")[0]
    (row,) = re.findall(r"^   ```py\n(.*?)^   ```", section, re.MULTILINE | re.DOTALL)
    program = BEFORE + textwrap.dedent(row) + AFTER
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
