"""Packages that choose devices by lists of their own: safetensors, accelerate, transformers and Lightning take this one."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import textwrap

import pytest

DATA = """
    import sys, warnings; warnings.simplefilter("ignore")
    import torch; from torch import nn
    import vkarray.torch
    folder = sys.argv[1]
    torch.manual_seed(0)
    data = torch.utils.data.TensorDataset(torch.randn(16, 4), torch.randn(16, 1))
    loader = torch.utils.data.DataLoader(data, batch_size=4)
    network = lambda: nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))
"""

PROGRAMS = {
    "safetensors": """
    from safetensors import safe_open
    from safetensors.torch import load_file, save_file
    made = {"a": torch.arange(6.0, device="vulkan").view(2, 3), "b": torch.ones(2, dtype=torch.bfloat16, device="vulkan")}
    save_file(made, folder + "/file")
    for device in ("vulkan", "vulkan:0", torch.device("vulkan"), 0):
        read = load_file(folder + "/file", device=device if isinstance(device, int) else str(device))
        assert all(read[name].is_vulkan and torch.equal(read[name], made[name]) for name in made)
    assert load_file(folder + "/file")["a"].is_cpu
    with safe_open(folder + "/file", "pt", device="vulkan") as file:
        assert file.get_slice("a")[1:].is_vulkan and file.get_slice("a").get_shape() == [2, 3]
        assert sorted(file.keys()) == ["a", "b"]
    """,
    "accelerate": """
    from accelerate import Accelerator, infer_auto_device_map
    from accelerate.state import AcceleratorState
    for precision in ("no", "fp16", "bf16"):
        AcceleratorState._reset_state(True)
        accelerator = Accelerator(mixed_precision=precision)
        assert accelerator.device.type == "vulkan" and accelerator.mixed_precision == precision
        assert (accelerator.scaler is not None) == (precision == "fp16")
        model = network()
        model, optimizer, batches = accelerator.prepare(model, torch.optim.AdamW(model.parameters()), loader)
        for x, y in batches:
            assert x.is_vulkan
            accelerator.backward(nn.functional.mse_loss(model(x), y))
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        assert next(model.parameters()).is_vulkan
    assert infer_auto_device_map(network()) == {"": 0}
    AcceleratorState._reset_state(True)
    assert Accelerator(cpu=True).device.type == "cpu"
    """,
    "transformers": """
    from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
    sizes = dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, vocab_size=9)
    config = BertConfig(**sizes, num_labels=2)
    rows = [{"input_ids": torch.randint(9, (6,)), "labels": torch.tensor(i % 2)} for i in range(8)]
    for options in ({}, {"fp16": True}, {"bf16": True}, {"gradient_checkpointing": True}):
        arguments = TrainingArguments(folder, num_train_epochs=1, per_device_train_batch_size=4, report_to=[], save_strategy="no",
                                      disable_tqdm=True, **options)
        assert arguments.device == torch.device("vulkan", 0)
        model = BertForSequenceClassification(config)
        Trainer(model, arguments, train_dataset=rows).train()
        assert model.device.type == "vulkan"
    model.save_pretrained(folder)
    assert BertForSequenceClassification.from_pretrained(folder, device_map="auto").device.type == "vulkan"
    """,
    "lightning": """
    import lightning
    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.network = network()
        def training_step(self, batch, index):
            assert batch[0].is_vulkan
            return nn.functional.mse_loss(self.network(batch[0]), batch[1])
        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters())
    quiet = dict(enable_progress_bar=False, logger=False, enable_checkpointing=False, enable_model_summary=False)
    for accelerator, precision in (("vulkan", "32-true"), ("auto", "32-true"), ("vulkan", "16-mixed"), ("vulkan", "bf16-mixed")):
        trainer = lightning.Trainer(accelerator=accelerator, devices=1, max_epochs=1, precision=precision, **quiet)
        trainer.fit(Module(), loader)
        assert trainer.strategy.root_device.type == "vulkan"
    fabric = lightning.Fabric(accelerator="vulkan", devices=1)
    assert fabric.device.type == "vulkan"
    """,
}


@pytest.mark.parametrize("package", PROGRAMS)
def test_packages_take_the_device(package, tmp_path):
    needed = {"transformers": "accelerate"}.get(package, package)  # its Trainer stands on it
    if importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    program = textwrap.dedent(DATA) + textwrap.dedent(PROGRAMS[package])
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
