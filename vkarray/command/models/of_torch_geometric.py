"""Networks of the package torch_geometric on small graphs."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch

from .rows import Call, Inputs, Row, integers, numbers


def _graph() -> Inputs:
    """Twelve nodes in two graphs, and edges within each."""
    edges = torch.cat([integers(0, 6, 2, 14), integers(6, 12, 2, 14, seed=2)], 1)
    return {"x": numbers(12, 16), "edge_index": edges, "batch": torch.arange(12) // 6}


def _attributed() -> Inputs:
    return {**_graph(), "edge_attr": numbers(28, 8, seed=3)}


def _model(
    kind: str, options: Callable[[Any], dict[str, Any]] = lambda nn: {}, given: Any = _graph, **more: Any
) -> Row:
    """Two layers of a convolution, and a mean over each graph."""

    def make() -> torch.nn.Module:
        nn = importlib.import_module("torch_geometric.nn")
        layers = [getattr(nn, kind)(**_sizes(kind, width), **options(nn), **more) for width in (16, 32)]

        def run(
            first: torch.nn.Module, last: torch.nn.Module, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor,
            **edges: torch.Tensor,
        ) -> Any:  # fmt: skip
            x = last(torch.nn.functional.silu(first(x, edge_index, **edges)), edge_index, **edges)
            return nn.global_mean_pool(x, batch)

        return Call(run, *layers)

    return Row(kind, f"torch_geometric.nn.{kind}", make, given)


def _sizes(kind: str, width: int) -> dict[str, Any]:
    if kind in ("GINConv", "EdgeConv"):
        fed = 2 * width if kind == "EdgeConv" else width
        return {"nn": torch.nn.Sequential(torch.nn.Linear(fed, 32), torch.nn.SiLU(), torch.nn.Linear(32, 32))}
    return {"in_channels": width, "out_channels": 32}


def _schnet() -> torch.nn.Module:
    """A model of molecules, with edges between all atoms of each."""

    def edges(pos: torch.Tensor, batch: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        among = (batch[:, None] == batch) & ~torch.eye(len(batch), dtype=torch.bool, device=batch.device)
        found = among.nonzero().T
        return found, (pos[found[0]] - pos[found[1]]).norm(dim=-1)

    nn = importlib.import_module("torch_geometric.nn")
    model: torch.nn.Module = nn.SchNet(16, 16, num_interactions=2, num_gaussians=8, interaction_graph=edges)
    return model


def _molecules() -> Inputs:
    return {"z": integers(1, 10, 12), "pos": numbers(12, 3), "batch": torch.arange(12) // 6}


def _pooled(kind: str) -> Row:
    """A convolution, a pooling that keeps some nodes, and the sum over each graph."""

    def make() -> torch.nn.Module:
        nn = importlib.import_module("torch_geometric.nn")

        def run(conv: Any, pool: Any, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor) -> Any:
            x = conv(x, edge_index)
            x, edge_index, _, batch, *_ = pool(x, edge_index, batch=batch)
            return nn.global_add_pool(x, batch), edge_index

        return Call(run, nn.GCNConv(16, 32), getattr(nn, kind)(32, ratio=0.5))

    return Row(kind, f"torch_geometric.nn.{kind}", make, _graph)


def _aggregated(kind: str, **options: Any) -> Row:
    def make() -> torch.nn.Module:
        aggregation = getattr(importlib.import_module("torch_geometric.nn.aggr"), kind)(**options)
        return Call(lambda linear, aggr, x, index: aggr(linear(x), index), torch.nn.Linear(16, 8), aggregation)

    def given() -> Inputs:
        return {"x": numbers(12, 16), "index": torch.tensor([0, 0, 0, 1, 1, 1, 1, 3, 3, 4, 4, 4])}

    return Row(kind, f"torch_geometric.nn.aggr.{kind}", make, given)


ROWS = [
    _model("GCNConv"),
    _model("SAGEConv"),
    _model("GINConv"),
    _model("GraphConv"),
    _model("TAGConv"),
    _model("SGConv"),
    _model("LEConv"),
    _model("ChebConv", K=3),
    _model("ARMAConv"),
    _model("ClusterGCNConv"),
    _model("MFConv"),
    _model("EdgeConv"),
    _model("GATConv", heads=4, concat=False, edge_dim=8, given=_attributed),
    _model("GATv2Conv", heads=4, concat=False, edge_dim=8, given=_attributed),
    _model("TransformerConv", heads=4, concat=False, edge_dim=8, given=_attributed),
    _model("ResGatedGraphConv", edge_dim=8, given=_attributed),
    _model("GeneralConv", in_edge_channels=8, given=_attributed),
    _model(
        "PNAConv",
        lambda nn: {
            "deg": torch.tensor([1, 4, 4, 2, 1]),
            "aggregators": ["mean", "max", "std"],
            "scalers": ["identity", "amplification"],
        },
        edge_dim=8,
        given=_attributed,
    ),
    _pooled("TopKPooling"),
    _pooled("SAGPooling"),
    _aggregated("SoftmaxAggregation", learn=True),
    _aggregated("StdAggregation"),
    _aggregated("MedianAggregation"),
    _aggregated("SortAggregation", k=3),
    _aggregated("LSTMAggregation", in_channels=8, out_channels=8),
    _aggregated("Set2Set", in_channels=8, processing_steps=2),
    _aggregated("PowerMeanAggregation", learn=True),
    Row("SchNet", "torch_geometric.nn.SchNet", _schnet, _molecules),
]
