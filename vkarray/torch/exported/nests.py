"""PyTorch's nests of arguments and results as nests of tuples, lists and dictionaries."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from torch.utils import _pytree as pytree


def packed(spec: Any, leaves: Iterator[Any]) -> Any:
    """A nest of these leaves: objects of classes that PyTorch takes apart by names become dictionaries, others tuples."""
    if spec.is_leaf():
        return next(leaves)
    parts = [packed(one, leaves) for one in _children(spec)]
    names = _names(spec, len(parts))
    if names is not None:
        return dict(zip(names, parts, strict=True))
    return parts if spec.type is list else tuple(parts)


def plain(spec: Any) -> Any:
    """PyTorch's description of such a nest."""
    return pytree.tree_structure(packed(spec, iter(range(spec.num_leaves))))


def unpacked(spec: Any, nest: Any) -> list[Any]:
    """The leaves of such a nest, in their order."""
    if spec.is_leaf():
        return [nest]
    children = _children(spec)
    names = _names(spec, len(children))
    parts = nest if names is None else [nest[name] for name in names]
    return [leaf for one, part in zip(children, parts, strict=True) for leaf in unpacked(one, part)]


def _children(spec: Any) -> Sequence[Any]:
    found: Any = spec.children() if callable(getattr(spec, "children", None)) else spec.children_specs
    return list(found)


def _names(spec: Any, count: int) -> list[str] | None:
    """The names of the parts of a dictionary, or of an object like one."""
    if spec.type in (tuple, list) or pytree.is_namedtuple_class(spec.type):
        return None
    context = spec.context
    for one in (context, *context) if isinstance(context, (list, tuple)) else ():
        if isinstance(one, (list, tuple)) and len(one) == count and all(isinstance(name, str) for name in one):
            return list(one)
    return None


def know_caches() -> None:
    """Let PyTorch take the caches of transformers apart, which that package does where it is asked to."""
    if "transformers" not in sys.modules:
        return
    importlib.import_module("transformers.integrations.executorch").register_dynamic_cache_export_support()
    pair = importlib.import_module("transformers.cache_utils").EncoderDecoderCache
    if pair not in pytree.SUPPORTED_NODES:
        names = ["self_attention_cache", "cross_attention_cache"]
        pytree.register_pytree_node(
            pair, lambda one: ([getattr(one, name) for name in names], names), lambda parts, _: pair(*parts)
        )
