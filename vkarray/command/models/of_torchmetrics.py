"""Metrics of the package torchmetrics: two updates, and what they compute."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch

from .rows import Call, Inputs, Row, integers, numbers


def _row(kind: str, given: Callable[[], Inputs], **options: Any) -> Row:
    def make() -> torch.nn.Module:
        module, _, last = kind.rpartition(".")
        metric = getattr(importlib.import_module(f"torchmetrics{'.' if module else ''}{module}"), last)(**options)

        def run(metric: Any, x: torch.Tensor, y: torch.Tensor) -> Any:
            metric.reset()
            metric.update(x, y)
            metric.update(x.flip(0), y)
            return metric.compute()

        return Call(run, metric)

    return Row(kind.rpartition(".")[2], f"torchmetrics.{kind}", make, given, trains=False)


def _classes() -> Inputs:
    return {"x": numbers(40, 4).softmax(1), "y": integers(0, 4, 40)}


def _pictures() -> Inputs:
    return {"x": numbers(2, 3, 24, 24).sigmoid(), "y": numbers(2, 3, 24, 24, seed=2).sigmoid()}


def _values() -> Inputs:
    return {"x": numbers(40), "y": numbers(40, seed=2)}


FOUR: dict[str, Any] = {"task": "multiclass", "num_classes": 4}

ROWS = [
    *(
        _row(kind, _classes, **FOUR)
        for kind in (
            "Accuracy",
            "F1Score",
            "Precision",
            "Recall",
            "AUROC",
            "AveragePrecision",
            "ConfusionMatrix",
            "CohenKappa",
            "MatthewsCorrCoef",
            "CalibrationError",
            "ROC",
            "JaccardIndex",
        )
    ),
    _row("image.StructuralSimilarityIndexMeasure", _pictures, data_range=1.0, kernel_size=5),
    _row("image.PeakSignalNoiseRatio", _pictures, data_range=1.0),
    *(
        _row(kind, _values)
        for kind in ("MeanSquaredError", "MeanAbsoluteError", "R2Score", "PearsonCorrCoef", "ConcordanceCorrCoef")
    ),
    _row("SpearmanCorrCoef", _values),
    _row("KendallRankCorrCoef", _values),
]
