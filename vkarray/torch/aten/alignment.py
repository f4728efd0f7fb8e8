"""The loss of sequences without alignment (CTC), over all alignments of a target with the steps of a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from ..dispatch.table import direct


class _Paths(NamedTuple):
    """Targets with blanks between and around them, N of L = 2 S + 1 labels, and what a path through them may do."""

    labels: Tensor  # (N, L)
    skips: Tensor  # (N, L) bool: whether a path may come from two labels before
    steps: Tensor  # (N, 1): the steps of the network that count
    last: Tensor  # (N, 1): the place of the last label


def _paths(targets: Tensor, input_lengths: Sequence[int], target_lengths: Sequence[int], blank: int) -> _Paths:
    on, count, longest = targets.device, len(target_lengths), max(target_lengths, default=0)
    lengths = torch.tensor(target_lengths, dtype=torch.int64).to(on).unsqueeze(1)
    places = torch.arange(longest, device=on).expand(count, longest)
    if targets.ndim == 1:
        begins = lengths.cumsum(0) - lengths
        targets = targets[(places + begins).clamp(0, max(targets.numel() - 1, 0))] if targets.numel() else places
    own = torch.where(places < lengths, targets[:, :longest].long(), blank)
    labels = torch.full((count, 2 * longest + 1), blank, dtype=torch.int64, device=on)
    labels[:, 1::2] = own
    skips = torch.zeros(labels.shape, dtype=torch.bool, device=on)
    skips[:, 3::2] = own[:, 1:] != own[:, :-1]
    steps = torch.tensor(input_lengths, dtype=torch.int64).to(on).unsqueeze(1)
    return _Paths(labels, skips, steps, 2 * lengths)


def _moved(x: Tensor, by: int) -> Tensor:
    """Elements of rows moved to the right, or to the left for negative `by`, with -infinity in their places."""
    return torch.nn.functional.pad(x, (by, -by), value=-torch.inf)


def _joined(*logarithms: Tensor) -> Tensor:
    """The logarithm of the sum of exponentials."""
    return torch.logsumexp(torch.stack(logarithms), 0)


def _is_end(paths: _Paths) -> Tensor:
    """The labels where a path may end: the last one, and the blank after it."""
    places = torch.arange(paths.labels.shape[1], device=paths.labels.device)
    return (places == paths.last) | (places == paths.last - 1)


def _at_labels(log_probs: Tensor, paths: _Paths) -> Tensor:
    """The logarithms of the labels' probabilities at each step, (T, N, L)."""
    return log_probs.gather(2, paths.labels.expand(log_probs.shape[0], *paths.labels.shape))


def _loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Sequence[int], target_lengths: Sequence[int], blank: int = 0,
    zero_infinity: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """(-log of the probability of each target, logarithms of the probabilities of the beginnings of paths (N, T, L)).

    Method: the forward variables of Graves, Fernandez, Gomez and Schmidhuber (ICML 2006).
    """
    paths = _paths(targets, input_lengths, target_lengths, blank)
    own = _at_labels(log_probs, paths)
    places = torch.arange(paths.labels.shape[1], device=paths.labels.device)
    begins = (places < 2) & (places <= paths.last)
    rows = []
    row = torch.where(begins, own[0], -torch.inf) if len(own) else own.new_empty(0)
    for step in range(len(own)):
        if step:
            skipped = torch.where(paths.skips, _moved(row, 2), -torch.inf)
            row = own[step] + _joined(row, _moved(row, 1), skipped)
        rows.append(row)
    if not rows:
        return _without_steps(paths, log_probs), own.new_empty(paths.labels.shape[0], 0, paths.labels.shape[1])
    begun = torch.stack(rows, 1)
    ended = begun.gather(1, (paths.steps - 1).clamp_min(0).unsqueeze(2).expand(-1, 1, begun.shape[2])).squeeze(1)
    loss = -torch.where(_is_end(paths), ended, -torch.inf).logsumexp(1)
    return torch.where(paths.steps[:, 0] == 0, _without_steps(paths, log_probs), loss), begun


def _without_steps(paths: _Paths, like: Tensor) -> Tensor:
    return torch.where(paths.last[:, 0] == 0, 0.0, torch.inf).to(like.dtype)


def _loss_backward(
    gradient: Tensor, log_probs: Tensor, targets: Tensor, input_lengths: Sequence[int], target_lengths: Sequence[int],
    loss: Tensor, begun: Tensor, blank: int, zero_infinity: bool = False,
) -> Tensor:  # fmt: skip
    """Of log_softmax's results: the probabilities less those of the labels given the target."""
    paths = _paths(targets, input_lengths, target_lengths, blank)
    own = _at_labels(log_probs, paths)
    end = torch.where(_is_end(paths), 0.0, -torch.inf).to(own.dtype)
    row = torch.full_like(end, -torch.inf)
    rows = []
    for step in reversed(range(len(own))):
        skipped = _moved(torch.where(paths.skips, row, -torch.inf), -2)
        row = own[step] + torch.where(paths.steps == step + 1, end, _joined(row, _moved(row, -1), skipped))
        rows.append(row)
    result = log_probs.exp()
    if rows:
        through = begun.transpose(0, 1) + torch.stack(rows[::-1])
        shares = torch.where(through == -torch.inf, 0, (through + loss.unsqueeze(1) - own).exp())
        result.scatter_add_(2, paths.labels.expand(own.shape), -shares)
    counted = torch.arange(len(own), device=own.device).view(-1, 1, 1) < paths.steps
    result = torch.where(counted, result * gradient.unsqueeze(1), 0)
    return torch.where((loss == torch.inf).unsqueeze(1), 0, result) if zero_infinity else result


direct("_ctc_loss", _loss)
direct("_ctc_loss_backward", _loss_backward)
