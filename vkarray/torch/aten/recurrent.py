"""The cells of LSTM and GRU, which PyTorch calls for devices that have products of matrices and little else."""

from __future__ import annotations

import torch
from torch import Tensor

from ..dispatch.table import direct


def _gates(products: Tensor, bias: Tensor | None, count: int) -> tuple[Tensor, ...]:
    """The parts of a product, with the bias added."""
    return (products if bias is None else products + bias).chunk(count, 1)


def _lstm(
    of_input: Tensor,
    of_hidden: Tensor,
    cell: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The new hidden and cell state, and the gates for the way back."""
    gates = of_input + of_hidden
    for bias in (input_bias, hidden_bias):
        gates = gates if bias is None else gates + bias
    inward, forget, candidate, outward = gates.chunk(4, 1)
    inward, forget, outward = inward.sigmoid(), forget.sigmoid(), outward.sigmoid()
    candidate = candidate.tanh()
    new = forget * cell + inward * candidate
    return outward * new.tanh(), new, torch.cat([inward, forget, candidate, outward], 1)


def _lstm_backward(
    of_hidden: Tensor | None, of_cell: Tensor | None, cell: Tensor, new: Tensor, gates: Tensor, has_bias: bool
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """The gradients of the gates, the cell state and the biases."""
    if of_hidden is None and of_cell is None:
        return None, None, None
    inward, forget, candidate, outward = gates.chunk(4, 1)
    squashed = new.tanh()
    gradient = torch.zeros_like(cell) if of_cell is None else of_cell
    of_outward = torch.zeros_like(outward)
    if of_hidden is not None:
        gradient = gradient + torch.ops.aten.tanh_backward(of_hidden * outward, squashed)
        of_outward = torch.ops.aten.sigmoid_backward(of_hidden * squashed, outward)
    of_gates = torch.cat(
        [
            torch.ops.aten.sigmoid_backward(gradient * candidate, inward),
            torch.ops.aten.sigmoid_backward(gradient * cell, forget),
            torch.ops.aten.tanh_backward(gradient * inward, candidate),
            of_outward,
        ],
        1,
    )
    return of_gates, gradient * forget, of_gates.sum(0) if has_bias else None


def _gru(
    of_input: Tensor,
    of_hidden: Tensor,
    hidden: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The new hidden state, and what the way back needs."""
    input_reset, input_update, input_new = _gates(of_input, input_bias, 3)
    hidden_reset, hidden_update, hidden_new = _gates(of_hidden, hidden_bias, 3)
    reset, update = (input_reset + hidden_reset).sigmoid(), (input_update + hidden_update).sigmoid()
    new = (input_new + reset * hidden_new).tanh()
    return new + update * (hidden - new), torch.cat([reset, update, new, hidden, hidden_new], 1)


def _gru_backward(
    gradient: Tensor, saved: Tensor, has_bias: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]:  # fmt: skip
    """The gradients of both products, the hidden state and both biases."""
    reset, update, new, hidden, hidden_new = saved.chunk(5, 1)
    of_update = torch.ops.aten.sigmoid_backward(gradient * (hidden - new), update)
    of_new = torch.ops.aten.tanh_backward(gradient * (1 - update), new)
    of_reset = torch.ops.aten.sigmoid_backward(of_new * hidden_new, reset)
    of_input = torch.cat([of_reset, of_update, of_new], 1)
    of_hidden = torch.cat([of_reset, of_update, of_new * reset], 1)
    biases = (of_input.sum(0), of_hidden.sum(0)) if has_bias else (None, None)
    return of_input, of_hidden, gradient * update, *biases


direct("_thnn_fused_lstm_cell", _lstm, "decomposed")
direct("_thnn_fused_lstm_cell_backward_impl", _lstm_backward, "decomposed")
direct("_thnn_fused_gru_cell", _gru, "decomposed")
direct("_thnn_fused_gru_cell_backward", _gru_backward, "decomposed")
