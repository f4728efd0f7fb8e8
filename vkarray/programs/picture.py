"""A program as a picture: its calls as boxes with the types and shapes of what they make and the weights that they take, as SVG."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from ..graph.stand_ins import Slot
from ..graph.tape import Entry, leaves
from .layers import layers
from .names import names
from .program import Program
from .signature import told

_CHARACTER, _LINE, _EDGE = 6.7, 15, 8  # of 11 pixels of a monospaced type: its width, a line, and the margin of boxes
_GAP, _BETWEEN = 22, 30  # between boxes, and between layers
_WEIGHTS = 3  # that a box tells of
_LONG = 44  # characters of a line at most
# The kinds of boxes, with the colours of their ground and their border.
_KINDS = {
    "input": ("#fff3d6", "#c98a00"),
    "weighted": ("#dceaff", "#3a6fc4"),
    "plain": ("#f4f4f4", "#8a8a8a"),
    "output": ("#e0f3e0", "#3c8d40"),
}
_STYLE = (
    "text{font:11px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#222}.t{font-weight:bold}.w{fill:#3a6fc4}"
    "rect{stroke-width:1.2}path{fill:none;stroke:#777;stroke-width:1.2}"
)


class Box(NamedTuple):
    """A box: its kind, its lines, the first one a title and the last `weights` ones about weights, and what hovering tells."""

    kind: str
    lines: list[str]
    weights: int
    whole: str

    @property
    def height(self) -> float:
        """In pixels."""
        return _LINE * len(self.lines) + _EDGE


def svg(program: Program) -> str:
    """The picture. Of the calls it shows those that make or change arrays."""
    boxes, edges = graph(program)
    return _drawn(boxes, edges, repr(program))


def graph(program: Program) -> tuple[list[Box], list[tuple[int, int]]]:
    """The boxes, and which ones take what others make."""
    shapes = program.shapes()
    boxes: list[Box] = []
    edges: dict[tuple[int, int], None] = {}  # in order
    made: dict[int, int] = {}  # by the number of a value, the box that made or last changed it
    arrays = [one for one in program.inputs if one.shape is not None]
    for number, one in enumerate(arrays):
        made[number] = len(boxes)
        boxes.append(Box("input", [one.name, f"{told(one.shape or ())} {one.dtype.name}"], 0, f"input {one}"))
    for entry in program.calls:
        taken = [slot.place for slot in _slots((entry.args, entry.kwargs)) if slot.place in made]
        results = [slot.place for slot in _slots(entry.form) if slot.place in shapes]
        changed = taken[:1] if entry.form is None else []  # such as the array of an assignment
        if not results and not changed:
            continue  # it is about numbers
        edges.update(dict.fromkeys((made[place], len(boxes)) for place in taken))
        made.update(dict.fromkeys((*results, *changed), len(boxes)))
        boxes.append(_box(entry, [f"{told(shapes[place][0])} {shapes[place][1]}" for place in results or changed]))
    outputs = [place for place in (slot.place for slot in _slots(program.results)) if place in made]
    for result, place in zip(program.outputs, outputs, strict=False):
        edges[made[place], len(boxes)] = None
        boxes.append(Box("output", [result.name, f"{told(result.shape)} {result.dtype.name}"], 0, f"output {result}"))
    return boxes, list(edges)


def _box(entry: Entry, results: Sequence[str]) -> Box:
    name = names().get(id(entry.function), "?")
    is_property = name in ("array.get", "array.set")
    title = (
        str(entry.args[1])
        if is_property
        else name.removeprefix("array.").removeprefix("nn.").removeprefix("part.").strip("_")
    )
    arrays = [one for one in leaves((entry.args, entry.kwargs)) if hasattr(one, "nbytes") and one.size > 1]
    weights = collections.Counter(f"{told(one.shape)} {one.dtype}, {_bytes(one.nbytes)}" for one in arrays)
    lines = [title, *results]
    lines += [f"{count} of {text}" if count > 1 else text for text, count in weights.most_common(_WEIGHTS)]
    if len(weights) > _WEIGHTS:
        lines.append(f"and others, {_bytes(sum(one.nbytes for one in arrays))} in all")
    options = [_shown(one) for one in entry.args] + [f"{key}={_shown(one)}" for key, one in entry.kwargs.items()]
    whole = f"{name}({', '.join(options)})\n{entry.line}"
    lines = [line if len(line) <= _LONG else f"{line[: _LONG - 1]}…" for line in lines]
    return Box("weighted" if weights else "plain", lines, len(lines) - 1 - len(results), whole)


def _shown(value: Any) -> str:
    """An argument of a call."""
    if type(value) is Slot:
        return f"value {value.place}"
    if hasattr(value, "dtype") and hasattr(value, "nbytes"):
        return f"array {told(value.shape)} {value.dtype}"
    if type(value) in (tuple, list):
        return f"({', '.join(map(_shown, value))})"
    return f"{value!r:.40}"


def _slots(value: Any) -> list[Slot]:
    return [one for one in leaves(value) if type(one) is Slot]


def _bytes(count: int) -> str:
    """A number of bytes with a unit."""
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count} B"


def _drawn(boxes: Sequence[Box], edges: Sequence[tuple[int, int]], title: str) -> str:
    across = _CHARACTER * max(len(line) for box in boxes for line in box.lines) + 2 * _EDGE
    placed = layers(len(boxes), edges, across, _GAP)
    heights = [0.0] * (max(placed.layer) + 1)
    for layer, box in zip(placed.layer, boxes, strict=True):
        heights[layer] = max(heights[layer], box.height)
    tops = [_GAP + sum(heights[:layer]) + _BETWEEN * layer for layer in range(len(heights))]
    bends = [x for bends in placed.bends for x in bends]
    left = min([x - across / 2 for x in placed.middle] + bends) - _GAP
    width = max([x + across / 2 for x in placed.middle] + bends) + _GAP - left
    height = tops[-1] + heights[-1] + _GAP
    tops_of = [tops[layer] + (heights[layer] - box.height) / 2 for layer, box in zip(placed.layer, boxes, strict=True)]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{left:.1f} 0 {width:.1f} {height:.1f}">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style>",
        '<defs><marker id="a" markerWidth="7" markerHeight="7" refX="6" refY="3" orient="auto">'
        '<path d="M0,0L6,3L0,6z" style="fill:#777;stroke:none"/></marker></defs>',
        f'<rect x="{left:.1f}" y="0" width="{width:.1f}" height="{height:.1f}" fill="white"/>',
    ]
    for (begin, end), between in zip(edges, placed.bends, strict=True):
        points = [(placed.middle[begin], tops_of[begin] + boxes[begin].height)]
        for number, x in enumerate(between, placed.layer[begin] + 1):
            points += [(x, tops[number]), (x, tops[number] + heights[number])]
        lines.append(_path([*points, (placed.middle[end], tops_of[end])]))
    for x, top, box in zip(placed.middle, tops_of, boxes, strict=True):
        ground, border = _KINDS[box.kind]
        rounded = _EDGE if box.kind in ("input", "output") else 2
        lines.append(
            f'<g><title>{escape(box.whole)}</title><rect x="{x - across / 2:.1f}" y="{top:.1f}" width="{across:.1f}" '
            f'height="{box.height:.1f}" rx="{rounded}" fill="{ground}" stroke="{border}"/>'
        )
        for number, line in enumerate(box.lines):
            kind = "t" if number == 0 else "w" if number >= len(box.lines) - box.weights else ""
            y = top + _LINE * (number + 1)
            lines.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" class="{kind}">{escape(line)}</text>')
        lines.append("</g>")
    return "\n".join([*lines, "</svg>\n"])


def _path(points: Sequence[tuple[float, float]]) -> str:
    """A line down through points, straight beside boxes and bent between layers."""
    (x, y), *rest = points
    text = f"M{x:.1f},{y:.1f}"
    for number, (end_x, end_y) in enumerate(rest):
        if number % 2 or x == end_x:
            text += f"L{end_x:.1f},{end_y:.1f}"
        else:
            text += f"C{x:.1f},{(y + end_y) / 2:.1f} {end_x:.1f},{(y + end_y) / 2:.1f} {end_x:.1f},{end_y:.1f}"
        x, y = end_x, end_y
    return f'<path d="{text}" marker-end="url(#a)"/>'
