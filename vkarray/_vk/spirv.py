"""Reading SPIR-V: what a module needs from the device; and float controls.

Numbers are those of the SPIR-V specification 1.6, section 3.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..errors import ShaderError
from ..shaders.module import HEADER_WORDS, instructions, words_of
from . import fields
from .fields import Field

# Capability -> features of which one suffices. An empty tuple: every Vulkan 1.2 device has it.
CAPABILITY_FEATURES: dict[int, tuple[str, ...]] = {
    0: (),
    1: (),
    46: (),
    50: (),  # Matrix, Shader, SampledBuffer, ImageQuery
    9: ("shaderFloat16",),
    10: ("shaderFloat64",),
    11: ("shaderInt64",),
    22: ("shaderInt16",),
    39: ("shaderInt8",),
    12: ("shaderBufferInt64Atomics", "shaderSharedInt64Atomics"),
    61: ("subgroupBasic",),
    62: ("subgroupVote",),
    63: ("subgroupArithmetic",),
    64: ("subgroupBallot",),
    65: ("subgroupShuffle",),
    66: ("subgroupShuffleRelative",),
    67: ("subgroupClustered",),
    68: ("subgroupQuad",),
    4433: ("storageBuffer16BitAccess",),
    4434: ("uniformAndStorageBuffer16BitAccess",),
    4435: ("storagePushConstant16",),
    4441: ("variablePointersStorageBuffer",),
    4442: ("variablePointers",),
    4448: ("storageBuffer8BitAccess",),
    4449: ("uniformAndStorageBuffer8BitAccess",),
    4450: ("storagePushConstant8",),
    5345: ("vulkanMemoryModel",),
    5346: ("vulkanMemoryModelDeviceScope",),
    5347: ("bufferDeviceAddress",),
    5116: ("shaderBFloat16Type",),
    5117: ("shaderBFloat16DotProduct",),
    5118: ("shaderBFloat16CooperativeMatrix",),
    5430: ("cooperativeMatrixReductions",),
    5431: ("cooperativeMatrixConversions",),
    5432: ("cooperativeMatrixPerElementOperations",),
    5433: ("cooperativeMatrixTensorAddressing",),
    5434: ("cooperativeMatrixBlockLoads",),
    5439: ("cooperativeMatrixTensorAddressing",),
    6016: ("shaderIntegerDotProduct",),
    6017: ("shaderIntegerDotProduct",),
    6018: ("shaderIntegerDotProduct",),
    6019: ("shaderIntegerDotProduct",),
    6022: ("cooperativeMatrix",),
    6033: ("shaderBufferFloat32AtomicAdd", "shaderSharedFloat32AtomicAdd"),
    6034: ("shaderBufferFloat64AtomicAdd", "shaderSharedFloat64AtomicAdd"),
}

# Float controls: capability -> (attribute of FloatControls, execution mode).
FLOAT_CONTROLS: dict[int, tuple[str, int]] = {
    4464: ("denorm_preserve", 4459),
    4466: ("signed_zero_inf_nan_preserve", 4461),
    4467: ("rounding_mode_rte", 4462),
}
_OPPOSITE = {4459: 4460, 4462: 4463}  # what the source has asked for instead: DenormFlushToZero, RoundingModeRTZ

# Storage classes, then decorations.
_STORAGE_BUFFER, _UNIFORM, _WORKGROUP, _PUSH_CONSTANT = 12, 2, 4, 9
_BUFFER_BLOCK, _ROW_MAJOR, _ARRAY_STRIDE, _MATRIX_STRIDE, _NON_WRITABLE, _NON_READABLE = 3, 4, 6, 7, 24, 25
_BINDING, _DESCRIPTOR_SET, _OFFSET = 33, 34, 35
_STRUCTURE = 30
# How `struct` packs an integer of so many bits, with a sign or without.
_FORMS = {
    (8, 0): "B", (8, 1): "b", (16, 0): "H", (16, 1): "h", (32, 0): "I", (32, 1): "i", (64, 0): "Q", (64, 1): "q",
}  # fmt: skip
# OpTypeSampledImage; OpTypeImage of the dimension Buffer, neither depth nor array nor multisampled, sampled.
_SAMPLED_IMAGE, _TEXEL_IMAGE = 27, (5, 0, 0, 0, 1)


def _signed(value: int) -> int:
    return value - (1 << 32) if value & 0x80000000 else value


def _quotient(a: int, b: int) -> int:
    """Rounded towards zero; 0 where SPIR-V leaves it undefined."""
    return (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1) if b else 0


# Operations on integers and booleans of 32 bits: opcode -> function of the unsigned operands.
OPERATIONS: dict[int, Callable[..., int]] = {
    113: lambda a: a,  # OpUConvert
    114: lambda a: a,  # OpSConvert
    126: lambda a: -a,
    128: lambda a, b: a + b,
    130: lambda a, b: a - b,
    132: lambda a, b: a * b,
    134: lambda a, b: a // b if b else 0,
    135: lambda a, b: _quotient(_signed(a), _signed(b)),
    137: lambda a, b: a % b if b else 0,
    138: lambda a, b: _signed(a) - _signed(b) * _quotient(_signed(a), _signed(b)),
    139: lambda a, b: _signed(a) % _signed(b) if b else 0,
    164: lambda a, b: int(a == b),
    165: lambda a, b: int(a != b),
    166: lambda a, b: int(bool(a or b)),
    167: lambda a, b: int(bool(a and b)),
    168: lambda a: int(not a),
    169: lambda condition, a, b: a if condition else b,
    170: lambda a, b: int(a == b),
    171: lambda a, b: int(a != b),
    172: lambda a, b: int(a > b),
    173: lambda a, b: int(_signed(a) > _signed(b)),
    174: lambda a, b: int(a >= b),
    175: lambda a, b: int(_signed(a) >= _signed(b)),
    176: lambda a, b: int(a < b),
    177: lambda a, b: int(_signed(a) < _signed(b)),
    178: lambda a, b: int(a <= b),
    179: lambda a, b: int(_signed(a) <= _signed(b)),
    194: lambda a, b: a >> b,
    195: lambda a, b: _signed(a) >> b,
    196: lambda a, b: a << b,
    197: lambda a, b: a | b,
    198: lambda a, b: a ^ b,
    199: lambda a, b: a & b,
    200: lambda a: ~a,
}
_COMPOSITE_EXTRACT = 81


@dataclass
class Module:
    """What matters of a module, its specialization constants applied."""

    words: tuple[int, ...]
    version: tuple[int, int]
    capabilities: frozenset[int]
    float_widths: frozenset[int]
    entry_point: int
    entry_name: str
    local_size: tuple[int, int, int]
    shared_bytes: int
    push_constant_bytes: int
    # Binding of descriptor set 0 -> "storage", "uniform" or "texel".
    bindings: dict[int, str] = field(default_factory=dict)
    counts_groups: bool = False  # reads NumWorkgroups
    accesses: dict[int, tuple[bool, bool]] = field(default_factory=dict)  # binding -> may be read, may be written
    arguments: tuple[Field, ...] = ()  # of the block that kernels of the library get their arguments in
    push_constants: tuple[Field, ...] = ()  # members of the block, where all are numbers, vectors or arrays of numbers
    # Binding of a buffer -> the types of the numbers in it: a name ("float", "bfloat16", "int", "uint") and bits each.
    numbers: dict[int, frozenset[tuple[str, int]]] = field(default_factory=dict)
    addresses: tuple[int, ...] = ()  # bytes at which the block of arguments or of push constants may hold an address


def _text(words: tuple[int, ...]) -> str:
    return struct.pack(f"<{len(words)}I", *words).split(b"\0", 1)[0].decode("utf-8", "replace")


class _Reader:
    """Tables of one module's types, constants, decorations and variables."""

    def __init__(self, words: tuple[int, ...], name: str, specialization: Mapping[int, int]) -> None:
        self.name, self.specialization = name, specialization
        self.capabilities: set[int] = set()
        self.types: dict[int, tuple[int, tuple[int, ...]]] = {}
        self.constants: dict[int, int] = {}
        self.composites: dict[int, tuple[int, ...]] = {}
        self.decorations: dict[tuple[int, int], tuple[int, ...]] = {}
        self.members: dict[tuple[int, int, int], tuple[int, ...]] = {}
        self.variables: list[tuple[int, int, int]] = []
        self.modes: dict[int, tuple[int, ...]] = {}
        self.id_modes: dict[int, tuple[int, ...]] = {}
        self.names: dict[tuple[int, int], str] = {}  # of members
        self.entry: tuple[int, str] | None = None
        for opcode, operands in instructions(words, name):
            if opcode == 54:  # OpFunction: declarations are over
                break
            self._take(opcode, operands)

    def _take(self, opcode: int, o: tuple[int, ...]) -> None:
        if opcode == 17:
            self.capabilities.add(o[0])
        elif opcode == 6:  # OpMemberName
            self.names[o[0], o[1]] = _text(o[2:])
        elif opcode == 15 and o[0] == 5:  # OpEntryPoint GLCompute
            self.entry = (o[1], _text(o[2:]))
        elif opcode == 16:
            self.modes[o[1]] = o[2:]
        elif opcode == 331:
            self.id_modes[o[1]] = o[2:]
        elif opcode == 71:
            self.decorations[o[0], o[1]] = o[2:]
        elif opcode == 72:
            self.members[o[0], o[1], o[2]] = o[3:]
        elif 19 <= opcode <= 33:
            self.types[o[0]] = (opcode, o[1:])
        elif opcode == 59:
            self.variables.append((o[0], o[1], o[2]))
        else:
            self._constant(opcode, o)

    def _constant(self, opcode: int, o: tuple[int, ...]) -> None:
        if opcode in (41, 42):
            self.constants[o[1]] = int(opcode == 41)
        elif opcode in (43, 48, 49, 50) and len(o) < 4:  # not those of 64 bits
            value = {48: 1, 49: 0}.get(opcode, o[2] if len(o) > 2 else 0)
            spec = self.decorations.get((o[1], 1))
            self.constants[o[1]] = self.specialization.get(spec[0], value) if spec else value
        elif opcode in (44, 51):
            self.composites[o[1]] = o[2:]
        elif opcode == 52:  # OpSpecConstantOp
            if o[2] == _COMPOSITE_EXTRACT:
                self._extract(o[1], o[3], o[4:])
            elif o[2] in OPERATIONS and all(operand in self.constants for operand in o[3:]):
                self.constants[o[1]] = OPERATIONS[o[2]](*(self.constants[part] for part in o[3:])) & 0xFFFFFFFF

    def _extract(self, result: int, composite: int, indices: tuple[int, ...]) -> None:
        for index in indices:
            composite = dict(enumerate(self.composites.get(composite, ()))).get(index, 0)  # 0 is the number of nothing
        if composite in self.constants:
            self.constants[result] = self.constants[composite]
        elif composite in self.composites:
            self.composites[result] = self.composites[composite]

    def constant(self, number: int, what: str) -> int:
        """The value of a constant that a size depends on. Raises ShaderError when it is computed in an unknown way."""
        if number not in self.constants:
            raise ShaderError(
                f"Kernel {self.name}: {what} is a specialization constant computed in a way that cannot be evaluated "
                "here; compute it from integers with + - * / % shifts, comparisons and ?:."
            )
        return self.constants[number]

    def size(self, kind: int) -> tuple[int, int]:
        """Bytes and alignment of a type in shared memory, laid out naturally."""
        opcode, o = self.types[kind]
        if opcode in (21, 22):
            return o[0] // 8, o[0] // 8
        if opcode in (23, 24):
            size, alignment = self.size(o[0])
            return size * o[1], alignment
        if opcode == 28:
            size, alignment = self.size(o[0])
            length = self.constant(o[1], "the length of an array")
            return -(-size // alignment) * alignment * length, alignment
        if opcode == 30:
            total, widest = 0, 1
            for member in o:
                size, alignment = self.size(member)
                total = -(-total // alignment) * alignment + size
                widest = max(widest, alignment)
            return -(-total // widest) * widest, widest
        return (8, 8) if opcode == 32 else (4, 4)  # pointers; bool and what is opaque

    def block_bytes(self, structure: int) -> int:
        """Bytes of a structure with explicit offsets, to the end of its last member."""
        ends = [0]
        for index, member in enumerate(self.types[structure][1]):
            start = self.members.get((structure, index, _OFFSET), (0,))[0]
            ends.append(start + self._member_bytes(member, structure, index))
        return max(ends)

    def _member_bytes(self, kind: int, structure: int, index: int) -> int:
        opcode, o = self.types[kind]
        if opcode == 28:
            stride = self.decorations.get((kind, _ARRAY_STRIDE), (self.size(o[0])[0],))[0]
            return stride * self.constant(o[1], "the length of an array")
        if opcode == 24:
            stride = self.members.get((structure, index, _MATRIX_STRIDE), (self.size(o[0])[0],))[0]
            rows = self.types[o[0]][1][1]
            return stride * (rows if (structure, index, _ROW_MAJOR) in self.members else o[1])
        return self.block_bytes(kind) if opcode == _STRUCTURE else self.size(kind)[0]

    def local_size(self) -> tuple[int, int, int]:
        for (target, decoration), value in self.decorations.items():
            if decoration == 11 and value[:1] == (25,) and target in self.composites:  # BuiltIn WorkgroupSize
                x, y, z = (self.constant(part, "the workgroup size") for part in self.composites[target])
                return x, y, z
        if 38 in self.id_modes:  # LocalSizeId
            x, y, z = (self.constant(part, "the workgroup size") for part in self.id_modes[38])
            return x, y, z
        x, y, z = self.modes.get(17, (1, 1, 1))
        return x, y, z

    def numbers_in(self, kind: int) -> frozenset[tuple[str, int]]:
        """The types of the numbers that a type is made of: a name and bits each; ("other", 0) for pointers and the like."""
        opcode, o = self.types[kind]
        if opcode == 21:
            return frozenset({("int" if o[1] else "uint", o[0])})
        if opcode == 22:
            return frozenset({("bfloat16" if len(o) > 1 else "float", o[0])})
        if opcode in (23, 24, 28, 29):  # vectors, matrices, arrays
            return self.numbers_in(o[0])
        if opcode == _STRUCTURE:
            return frozenset().union(*map(self.numbers_in, o))
        return frozenset({("other", 0)})

    def bindings(
        self,
    ) -> tuple[dict[int, str], dict[int, tuple[bool, bool]], dict[int, frozenset[tuple[str, int]]]]:
        """Kind, access and numbers of each binding. Raises ShaderError for all but single buffers in descriptor set 0."""
        kinds: dict[int, str] = {}
        accesses: dict[int, tuple[bool, bool]] = {}
        numbers: dict[int, frozenset[tuple[str, int]]] = {}
        for pointer, variable, storage in self.variables:
            binding = self.decorations.get((variable, _BINDING))
            if self._holds_arguments(variable, storage):
                continue
            if binding is None and storage not in (_STORAGE_BUFFER, _UNIFORM):
                continue
            if binding is None or self.decorations.get((variable, _DESCRIPTOR_SET), (0,))[0] != 0:
                raise ShaderError(
                    f"Kernel {self.name}: buffers must be declared with layout(binding = n) in descriptor set 0."
                )
            number, structure = binding[0], self.types[pointer][1][1]
            if self._is_texel_buffer(structure):
                kinds[number], accesses[number] = "texel", (True, False)
                continue
            if storage not in (_STORAGE_BUFFER, _UNIFORM) or self.types[structure][0] != _STRUCTURE:
                raise ShaderError(
                    f"Kernel {self.name}: binding {number} is an image, a sampler or an array of buffers; each "
                    "binding must be one buffer: layout(binding = n) buffer Name { float data[]; };"
                )
            storage_buffer = storage == _STORAGE_BUFFER or (structure, _BUFFER_BLOCK) in self.decorations
            kind = "storage" if storage_buffer else "uniform"
            if kinds.setdefault(number, kind) != kind:
                raise ShaderError(f"Kernel {self.name}: binding {number} is both a storage and a uniform buffer.")
            numbers[number] = numbers.get(number, frozenset()) | self.numbers_in(structure)
            read, written = accesses.get(number, (False, False))
            accesses[number] = (
                read or not self._all_members(structure, variable, _NON_READABLE),
                written or (storage_buffer and not self._all_members(structure, variable, _NON_WRITABLE)),
            )
        return dict(sorted(kinds.items())), dict(sorted(accesses.items())), numbers

    def _holds_arguments(self, variable: int, storage: int) -> bool:
        """Whether a variable is the block of arguments."""
        set_ = self.decorations.get((variable, _DESCRIPTOR_SET), (0,))[0]
        binding = self.decorations.get((variable, _BINDING), (-1,))[0]
        return storage == _UNIFORM and (set_, binding) == (fields.SET, fields.BINDING)

    def arguments(self) -> tuple[Field, ...]:
        """The fields of the block of arguments."""
        for pointer, variable, storage in self.variables:
            if self._holds_arguments(variable, storage):
                block = self.types[pointer][1][1]
                return tuple(self._field(block, index, kind) for index, kind in enumerate(self.types[block][1]))
        return ()

    def _field(self, block: int, index: int, kind: int, addresses: bool = True) -> Field:
        opcode, o = self.types[kind]
        length = 1
        if opcode == 28:
            length = self.constant(o[1], "the length of an array")
            kind = o[0]
            opcode, o = self.types[kind]
        may_be_address = addresses and opcode == 23 and self.types[o[0]] == (21, (32, 0)) and o[1] == 2
        if opcode == 23 and not may_be_address:
            length *= o[1]
            opcode, o = self.types[o[0]]
        if opcode == 21:
            form = _FORMS[o[0], o[1]]
        else:
            form = {16: "e", 32: "f", 64: "d"}[o[0]] if opcode == 22 else "Q"
        name = self.names.get((block, index), "")
        return Field(name, self.members.get((block, index, _OFFSET), (0,))[0], form, length)

    def addresses(self) -> tuple[int, ...]:
        """Where the block of arguments, or that of push constants, has 64 bits that may be an address."""
        found: set[int] = set()
        for pointer, variable, storage in self.variables:
            if storage == _PUSH_CONSTANT or self._holds_arguments(variable, storage):
                block = self.types[pointer][1][1]
                members = (self._field(block, index, kind) for index, kind in enumerate(self.types[block][1]))
                found.update(*(range(one.offset, one.offset + one.nbytes, 8) for one in members if one.form == "Q"))
        return tuple(sorted(found))

    def push_constants(self) -> tuple[Field, ...]:
        """The members of the block of push constants; none where one is more than numbers one after the other."""
        for pointer, _, storage in self.variables:
            if storage == _PUSH_CONSTANT:
                block = self.types[pointer][1][1]
                kinds = self.types[block][1]
                if all(map(self._is_dense, kinds)):
                    return tuple(self._field(block, index, kind, addresses=False) for index, kind in enumerate(kinds))
        return ()

    def _is_dense(self, kind: int) -> bool:
        """Whether a type is a number, a vector, or an array of numbers one after the other."""
        opcode, o = self.types[kind]
        if opcode == 28:
            stride = self.decorations.get((kind, _ARRAY_STRIDE), (0,))[0]
            return self.types[o[0]][0] in (21, 22) and stride == self.size(o[0])[0]
        return opcode in (21, 22) or (opcode == 23 and self.types[o[0]][0] in (21, 22))

    def _is_texel_buffer(self, kind: int) -> bool:
        """Whether a type is a `usamplerBuffer`."""
        opcode, operands = self.types[kind]
        if opcode != _SAMPLED_IMAGE:
            return False
        sampled, *image = self.types[operands[0]][1]
        return tuple(image[:5]) == _TEXEL_IMAGE and self.types[sampled] == (21, (32, 0))

    def _all_members(self, structure: int, variable: int, decoration: int) -> bool:
        members = range(len(self.types[structure][1]))
        return (variable, decoration) in self.decorations or all(
            (structure, member, decoration) in self.members for member in members
        )


def read(spirv: bytes, name: str, specialization: dict[int, int]) -> Module:
    """Read a module; raises ShaderError when it is damaged or not a compute shader."""
    words = words_of(spirv, name)
    try:
        reader = _Reader(words, name, specialization)
        if reader.entry is None:
            raise ShaderError(f"Kernel {name}: the SPIR-V module has no compute entry point.")
        floats = {o[0] for opcode, o in reader.types.values() if opcode == 22 and len(o) == 1}
        shared = sum(
            reader.size(reader.types[pointer][1][1])[0]
            for pointer, _, storage in reader.variables
            if storage == _WORKGROUP
        )
        push = max(
            (
                reader.block_bytes(reader.types[pointer][1][1])
                for pointer, _, storage in reader.variables
                if storage == _PUSH_CONSTANT
            ),
            default=0,
        )
        kinds, accesses, numbers = reader.bindings()
        return Module(
            words,
            (words[1] >> 16 & 0xFF, words[1] >> 8 & 0xFF),
            frozenset(reader.capabilities),
            frozenset(floats),
            *reader.entry,
            reader.local_size(),
            shared,
            push,
            kinds,
            any(key[1] == 11 and value[:1] == (24,) for key, value in reader.decorations.items()),
            accesses,
            reader.arguments(),
            reader.push_constants(),
            numbers,
            reader.addresses(),
        )
    except (IndexError, KeyError, ValueError) as error:
        raise ShaderError(f"Kernel {name}: the SPIR-V module is damaged ({error!r}); compile it again.") from error


def constants(words: tuple[int, ...], name: str, specialization: Mapping[int, int]) -> dict[int, int]:
    """The values of constants of at most 32 bits, by their identifiers."""
    return _Reader(words, name, specialization).constants


def add_float_controls(module: Module, name: str, wanted: dict[int, frozenset[int]]) -> tuple[int, ...]:
    """The module's words with execution modes for ``wanted`` (capability -> bit widths) that it does not have yet."""
    present: set[tuple[int, int]] = set()
    after_capabilities = before_debug = position = HEADER_WORDS
    extensions = set()
    for opcode, operands in instructions(module.words, name):
        # The order of a module: capabilities, extensions, imports, memory model, entry points, execution modes.
        if opcode not in (10, 11, 14, 15, 16, 17, 331):
            before_debug = position
            break
        position += len(operands) + 1
        if opcode == 17:
            after_capabilities = position
        elif opcode == 16 and len(operands) > 2:
            present.add((operands[1], operands[2]))
        elif opcode == 10:
            extensions.add(_text(operands))
    capabilities: list[int] = []
    modes: list[int] = []
    for capability, widths in wanted.items():
        mode = FLOAT_CONTROLS[capability][1]
        missing = [
            width
            for width in sorted(widths)
            if (mode, width) not in present and (_OPPOSITE.get(mode), width) not in present
        ]
        for width in missing:
            modes += [4 << 16 | 16, module.entry_point, mode, width]
        if missing and capability not in module.capabilities:
            capabilities += [2 << 16 | 17, capability]
    if not modes:
        return module.words
    extension: list[int] = []
    if module.version < (1, 4) and "SPV_KHR_float_controls" not in extensions:
        literal = b"SPV_KHR_float_controls\0".ljust(24, b"\0")
        extension = [7 << 16 | 10, *struct.unpack("<6I", literal)]
    words = module.words
    return (
        *words[:after_capabilities],
        *capabilities,
        *extension,
        *words[after_capabilities:before_debug],
        *modes,
        *words[before_debug:],
    )
