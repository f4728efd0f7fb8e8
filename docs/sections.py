"""A docstring as Markdown: its sentences on parameters, results, errors, method and standard become sections."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

# A section begins with one of these words, at the start of a sentence.
_HEAD = re.compile(r"(?:^|(?<=[.;:)])\s+|\n\s*)(?=(?:Parameters:|Returns |Raises |Method: |Standard: |Standard\.$))")
_ERROR = re.compile(r"(?:, (?:and )?|; )(?=[A-Z]\w*Error\b)")
_API = "https://data-apis.org/array-api/latest/"
_IN_MAIN_NAMESPACE = ("matmul", "matrix_transpose", "tensordot", "vecdot")  # of the chapter "linear algebra"

Link = Callable[[str], "str | None"]  # the Markdown of a link for a name in code, if it is one of the reference


def escaped(text: str, link: Link) -> str:
    """Text whose stars and the like stand for themselves, except in code; names in code are links."""

    def piece(each: str) -> str:
        if each.startswith("`"):
            return link(each.strip("`")) or each
        return re.sub(r"([*_<|$])", r"\\\1", each)

    return "".join(map(piece, re.split(r"(`+[^`]+`+)", text)))


def split(text: str) -> dict[str, str]:
    """The sections of a docstring by their names: "" for what comes before the first, "Notes" for what is left over."""
    first, *others = _HEAD.split(text)
    found = {"": first}
    notes: list[str] = []
    for part in others:
        name, body = re.split(r"[:.]?\s+|[:.]$", part.strip(), maxsplit=1)
        body, *rest = re.split(r"\n\s*\n", body)
        if name == "Raises":  # one sentence; others tell something else
            body, *more = re.split(r"(?<=\.)\s+(?=[A-Z])", body, maxsplit=1)
            rest = [*more, *rest]
        notes += rest
        found[name] = f"{found[name]} {body}" if name in found else body
    return found | ({"Notes": "\n\n".join(notes)} if notes else {})


def _parts(text: str) -> list[str]:
    """The text between semicolons that are in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == ";" and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def parameters(text: str, names: Collection[str], link: Link) -> str:
    """A list of definitions: a part that begins with names of parameters is theirs, any other belongs to the one before."""
    items: list[tuple[str, str]] = []
    for part in _parts(" ".join(text.split())):
        match = re.match(r"((?:and )?\*{0,2}\w+(?:, (?:and )?\w+)*)(?=$|[ ,.:(])[,:]? ?(.*)", part)
        named = match and [each.removeprefix("and ").lstrip("*") for each in match[1].split(", ")]
        while named and named[-1] not in names:  # "n, the number of points": the list ends before the article
            named.pop()
        if match and named:
            told = part[part.index(named[-1]) + len(named[-1]):].lstrip(",: ").rstrip()  # fmt: skip
            whole = re.fullmatch(r"\((([^()]|\([^()]*\))*)\)\.?", told)
            items.append((", ".join(named), whole[1] if whole else told.lstrip(". ")))
        elif items:
            items[-1] = (items[-1][0], f"{items[-1][1]}; {part}")
        else:
            return escaped(text, link)
    return "\n\n".join(f"{escaped(name, link)}\n: {escaped(told or 'described above', link)}" for name, told in items)


def errors(text: str, link: Link) -> str:
    """A list of definitions, where each part is an error and its cause."""
    parts = _ERROR.split(" ".join(text.split()).removesuffix("."))
    pairs = [re.fullmatch(r"`*(\w+Error)`* ?(.*)", part) for part in parts]
    if not all(pairs):
        return escaped(text, link)
    return "\n\n".join(
        f"{link(pair[1]) or pair[1]}\n: {escaped(pair[2] or 'where that happens', link)}" for pair in pairs if pair
    )


def standard(text: str, module: str, name: str) -> str:
    """The link to the page of the standard, and what is said after its name."""
    told = re.search(r"`(?:\w+\.)?(\w+)`(.*?)\.?$", text, re.DOTALL)
    name, rest = (told[1], told[2]) if told else (name, "")
    space = module.rpartition(".")[2]
    if space == "vkarray" or name in _IN_MAIN_NAMESPACE:
        return f"[`{name}`]({_API}API_specification/generated/array_api.{name}.html){rest}"
    return f"[`{space}.{name}`]({_API}extensions/generated/array_api.{space}.{name}.html){rest}"


def prose(text: str, link: Link) -> str:
    """Paragraphs: examples and what is indented are code, all else is text."""
    blocks: list[str] = []
    for block in re.split(r"\n\s*\n|\n(?=>>>)(?<!\n>>>)", text):
        if block.startswith((">>>", "    ")):
            blocks.append(f"```{'pycon' if block.startswith('>>>') else 'text'}\n{block}\n```")
        elif block.strip():
            blocks.append(escaped(block, link))
    return "\n\n".join(blocks)


def field(name: str, text: str) -> str:
    return f":{name}:\n" + "\n".join(f"    {line}".rstrip() for line in text.splitlines())


def markdown(text: str, names: Collection[str] = (), module: str = "vkarray", name: str = "",
             link: Link = lambda name: None) -> str:  # fmt: skip
    """A whole docstring, the parameters named `names`."""
    found = split(text)
    render = {
        "Parameters": lambda body: parameters(body, names, link),
        "Returns": lambda body: escaped(body[:1].upper() + body[1:], link),
        "Raises": lambda body: errors(body, link),
        "Method": lambda body: escaped(body[:1].upper() + body[1:], link),
        "Notes": lambda body: prose(body, link),
        "Standard": lambda body: standard(body, module, name),
    }
    fields = [field(head, make(found[head])) for head, make in render.items() if head in found]
    return "\n\n".join([prose(found[""], link), "\n".join(fields)]).strip()
