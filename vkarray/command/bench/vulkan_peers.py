"""Libraries that run on Vulkan too, for the few works that they do: `add`, `sum` and `matmul` of float32 arrays."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..libraries import Library


class Few(Library):
    """A library that is measured in the works that are `common` alone; results are what only `host` can read."""

    start = None
    does_all = False

    def __init__(self, name: str, version: str, functions: dict[str, Callable[..., Any]]) -> None:
        super().__init__(name, np, functions)
        self.version = f"{name} {version}"

    def part(self, x: Any, rows: slice) -> np.ndarray:
        return self.host(x)[rows]


# -- IREE -------------------------------------------------------------------------------------------------------------

_MLIR = {
    "add": """func.func @main(%a: {a}, %b: {b}) -> {a} {{
  %r = arith.addf %a, %b : {a}
  return %r : {a}
}}""",
    "sum": """func.func @main(%a: {a}) -> tensor<f32> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %r = linalg.reduce {{ arith.addf }} ins(%a : {a}) outs(%start : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}}""",
    "matmul": """func.func @main(%a: {a}, %b: {b}) -> {r} {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {r}
  %start = linalg.fill ins(%zero : f32) outs(%empty : {r}) -> {r}
  %r = linalg.matmul ins(%a, %b : {a}, {b}) outs(%start : {r}) -> {r}
  return %r : {r}
}}""",
}


class Iree(Few):
    """IREE's compiler and runtime, on the first Vulkan device that its driver offers."""

    def __init__(self) -> None:
        self.compiler = importlib.import_module("iree.compiler")
        self.runtime = importlib.import_module("iree.runtime")
        self.device = self.runtime.get_driver("vulkan").create_default_device()
        self.compiled: dict[tuple[Any, ...], Any] = {}
        super().__init__(
            "IREE Vulkan",
            importlib.metadata.version("iree-base-compiler"),
            {name: self._function(name) for name in _MLIR},
        )

    def _function(self, name: str) -> Callable[..., Any]:
        def call(*arrays: Any) -> Any:
            key = (name, *(tuple(x.shape) for x in arrays))
            if key not in self.compiled:
                self.compiled[key] = self._compile(name, *key[1:])
            return self.compiled[key](*arrays)

        return call

    def _compile(self, name: str, *shapes: Any) -> Any:
        types = [f"tensor<{''.join(f'{size}x' for size in shape)}f32>" for shape in shapes]
        result = f"tensor<{shapes[0][0]}x{shapes[-1][-1]}xf32>"
        text = _MLIR[name].format(a=types[0], b=types[-1], r=result)
        binary = self.compiler.compile_str(text, target_backends=["vulkan-spirv"])
        config = self.runtime.Config(device=self.device)
        module = self.runtime.VmModule.copy_buffer(config.vm_instance, binary)
        return self.runtime.load_vm_module(module, config)["main"]

    def array(self, values: np.ndarray) -> Any:
        return self.runtime.asdevicearray(self.device, values)

    def host(self, x: Any) -> np.ndarray:
        # `to_host` imports memory of NumPy's, which has to be aligned to pages.
        runtime, source = self.runtime, x._buffer_view.get_buffer()
        target = self.device.allocator.allocate_buffer(
            memory_type=int(runtime.MemoryType.HOST_LOCAL | runtime.MemoryType.DEVICE_VISIBLE),
            allowed_usage=int(runtime.BufferUsage.TRANSFER_TARGET | runtime.BufferUsage.MAPPING_SCOPED),
            allocation_size=source.byte_length(),
        )
        semaphore = self.device.create_semaphore(0)
        before, after = (runtime.HalFence.create_at(semaphore, point) for point in (0, 1))
        self.device.queue_copy(source, target, wait_semaphores=before, signal_semaphores=after)
        after.wait()
        return np.array(target.map().asarray(x._buffer_view.shape, np.dtype(np.float32)))


# -- tinygrad ---------------------------------------------------------------------------------------------------------


class Tinygrad(Few):
    """tinygrad through WebGPU (Dawn), its way to a Vulkan device."""

    def __init__(self) -> None:
        dawn = importlib.util.find_spec("pydawn")
        if "WEBGPU_PATH" not in os.environ and dawn is not None and dawn.origin is not None:
            found = sorted((Path(dawn.origin).parent / "lib").glob(f"libwebgpu_dawn_{platform.machine()}.so"))
            os.environ.update({"WEBGPU_PATH": str(found[0])} if found else {})
        os.environ.setdefault("WEBGPU_BACKEND", "WGPUBackendType_Vulkan")
        module = importlib.import_module("tinygrad")
        self.tensor, self.device = module.Tensor, module.Device["WEBGPU"]
        functions: dict[str, Callable[..., Any]] = {
            "add": lambda a, b: (a + b).realize(),
            "sum": lambda a: a.sum().realize(),
            "matmul": lambda a, b: (a @ b).realize(),
        }
        super().__init__("tinygrad", importlib.metadata.version("tinygrad"), functions)

    def array(self, values: np.ndarray) -> Any:
        return self.tensor(values, device="WEBGPU").realize()

    def host(self, x: Any) -> np.ndarray:
        return np.array(x.numpy())

    def synchronize(self) -> None:
        self.device.synchronize()


# -- wgpu -------------------------------------------------------------------------------------------------------------

_WGSL_HEAD = """
@group(0) @binding(0) var<storage, read_write> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> r: array<f32>;
struct Sizes { m: u32, k: u32, n: u32, stride: u32 }
@group(0) @binding(3) var<storage, read_write> sizes: Sizes;
"""
_WGSL = {
    "add": """
@compute @workgroup_size(256) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  for (var i = id.x; i < sizes.n; i += sizes.stride) { r[i] = a[i] + b[i]; }
}""",
    "sum": """
@compute @workgroup_size(256) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  var total = 0.0;
  for (var i = id.x; i < sizes.n; i += sizes.stride) { total += a[i]; }
  if (id.x < sizes.stride) { r[id.x] = total; }
}""",
    "matmul": """
@compute @workgroup_size(16, 16) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let row = 4u * id.y;
  let column = 4u * id.x;
  if (row >= sizes.m || column >= sizes.n) { return; }
  var total: array<array<f32, 4>, 4>;
  for (var k = 0u; k < sizes.k; k++) {
    for (var i = 0u; i < 4u; i++) {
      let x = a[min(row + i, sizes.m - 1u) * sizes.k + k];
      for (var j = 0u; j < 4u; j++) { total[i][j] += x * b[k * sizes.n + min(column + j, sizes.n - 1u)]; }
    }
  }
  for (var i = 0u; i < 4u; i++) {
    for (var j = 0u; j < 4u; j++) {
      if (row + i < sizes.m && column + j < sizes.n) { r[(row + i) * sizes.n + column + j] = total[i][j]; }
    }
  }
}""",
}
_LANES = 1 << 16  # invocations of a sum's first pass


class _WgpuArray:
    def __init__(self, buffer: Any, shape: tuple[int, ...]) -> None:
        self.buffer, self.shape = buffer, shape


class Wgpu(Few):
    """wgpu-py with straightforward shaders of its own: a library for shaders has no operations."""

    def __init__(self) -> None:
        self.wgpu = importlib.import_module("wgpu")
        importlib.import_module("wgpu.backends.wgpu_native")
        adapters = [x for x in self.wgpu.gpu.enumerate_adapters_sync() if x.info["backend_type"] == "Vulkan"]
        limits = adapters[0].limits
        names = ("max-buffer-size", "max-storage-buffer-binding-size")
        self.device = adapters[0].request_device_sync(required_limits={name: limits[name] for name in names})
        self.pipelines = {name: self._pipeline(text) for name, text in _WGSL.items()}
        self.sizes: dict[tuple[int, ...], Any] = {}
        functions: dict[str, Callable[..., Any]] = {"add": self._add, "sum": self._sum, "matmul": self._matmul}
        super().__init__("wgpu", importlib.metadata.version("wgpu"), functions)

    def _pipeline(self, text: str) -> Any:
        # Explicit, as each shader uses only some of the four buffers.
        entries = [{"binding": i, "visibility": 4, "buffer": {"type": "storage"}} for i in range(4)]
        self.group_layout = self.device.create_bind_group_layout(entries=entries)
        layout = self.device.create_pipeline_layout(bind_group_layouts=[self.group_layout])
        module = self.device.create_shader_module(code=_WGSL_HEAD + text)
        return self.device.create_compute_pipeline(layout=layout, compute={"module": module, "entry_point": "main"})

    def _empty(self, shape: tuple[int, ...]) -> _WgpuArray:
        usage = self.wgpu.BufferUsage
        size = 4 * max(1, int(np.prod(shape)))
        return _WgpuArray(self.device.create_buffer(size=size, usage=usage.STORAGE | usage.COPY_SRC), shape)

    def _run(self, name: str, arrays: list[_WgpuArray], sizes: tuple[int, ...], groups: tuple[int, ...]) -> _WgpuArray:
        if sizes not in self.sizes:
            data = np.array(sizes, np.uint32)
            self.sizes[sizes] = self.device.create_buffer_with_data(data=data, usage=self.wgpu.BufferUsage.STORAGE)
        buffers = [*(x.buffer for x in arrays), self.sizes[sizes]]
        entries = [{"binding": i, "resource": {"buffer": buffer}} for i, buffer in enumerate(buffers)]
        pipeline = self.pipelines[name]
        group = self.device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)
        encoder = self.device.create_command_encoder()
        run = encoder.begin_compute_pass()
        run.set_pipeline(pipeline)
        run.set_bind_group(0, group)
        run.dispatch_workgroups(*groups)
        run.end()
        self.device.queue.submit([encoder.finish()])
        return arrays[2]

    def _add(self, a: _WgpuArray, b: _WgpuArray) -> _WgpuArray:
        n = a.shape[0]
        groups = min(-(-n // 256), 1 << 15)
        return self._run("add", [a, b, self._empty(a.shape)], (1, 1, n, groups * 256), (groups,))

    def _sum(self, a: _WgpuArray) -> _WgpuArray:
        unused, n = self._empty((1,)), a.shape[0]
        parts = self._run("sum", [a, unused, self._empty((_LANES,))], (1, 1, n, _LANES), (_LANES // 256,))
        some = self._run("sum", [parts, unused, self._empty((256,))], (1, 1, _LANES, 256), (1,))
        return self._run("sum", [some, unused, self._empty(())], (1, 1, 256, 1), (1,))

    def _matmul(self, a: _WgpuArray, b: _WgpuArray) -> _WgpuArray:
        (m, k), n = a.shape, b.shape[1]
        return self._run("matmul", [a, b, self._empty((m, n))], (m, k, n, 0), (-(-n // 64), -(-m // 64)))

    def array(self, values: np.ndarray) -> Any:
        usage = self.wgpu.BufferUsage
        buffer = self.device.create_buffer_with_data(data=values, usage=usage.STORAGE | usage.COPY_SRC)
        return _WgpuArray(buffer, values.shape)

    def host(self, x: Any) -> np.ndarray:
        count = int(np.prod(x.shape))
        return np.frombuffer(self.device.queue.read_buffer(x.buffer), np.float32)[:count].reshape(x.shape).copy()

    def finish(self, result: Any) -> None:
        self.device.queue.read_buffer(result.buffer, 0, 4)  # waits for what was submitted before


# -- taichi -----------------------------------------------------------------------------------------------------------


class Taichi(Few):
    """taichi's kernels on Vulkan, written as its guide writes them."""

    def __init__(self) -> None:
        os.environ.setdefault("TI_LOG_LEVEL", "error")
        ti: Any = importlib.import_module("taichi")
        ti.init(arch=ti.vulkan, offline_cache=True)
        if ti.cfg.arch != ti.vulkan:
            raise RuntimeError("it found no Vulkan device")
        self.taichi = ti
        vector, matrix = ti.types.ndarray(dtype=ti.f32, ndim=1), ti.types.ndarray(dtype=ti.f32, ndim=2)
        scalar = ti.types.ndarray(dtype=ti.f32, ndim=0)

        def add(a, b, r):
            for i in r:
                r[i] = a[i] + b[i]

        def sum_(a, r):
            r[None] = 0.0
            for i in a:
                r[None] += a[i]

        def matmul(a, b, r):
            for i, j in r:
                total = 0.0
                for k in range(a.shape[1]):
                    total += a[i, k] * b[k, j]
                r[i, j] = total

        add.__annotations__ = dict.fromkeys(("a", "b", "r"), vector)
        sum_.__annotations__ = {"a": vector, "r": scalar}
        matmul.__annotations__ = dict.fromkeys(("a", "b", "r"), matrix)
        self.kernels = {"add": ti.kernel(add), "sum": ti.kernel(sum_), "matmul": ti.kernel(matmul)}
        functions: dict[str, Callable[..., Any]] = {
            "add": lambda a, b: self._into("add", tuple(a.shape), a, b),
            "sum": lambda a: self._into("sum", (), a),
            "matmul": lambda a, b: self._into("matmul", (a.shape[0], b.shape[1]), a, b),
        }
        super().__init__("taichi", ".".join(map(str, ti.__version__)), functions)

    def _into(self, name: str, shape: tuple[int, ...], *arrays: Any) -> Any:
        result = self.taichi.ndarray(self.taichi.f32, shape)
        self.kernels[name](*arrays, result)
        return result

    def array(self, values: np.ndarray) -> Any:
        result = self.taichi.ndarray(self.taichi.f32, values.shape)
        result.from_numpy(values)
        return result

    def host(self, x: Any) -> np.ndarray:
        return np.array(x.to_numpy())

    def synchronize(self) -> None:
        self.taichi.sync()


PEERS: dict[str, Callable[[], Library | None]] = {
    "IREE Vulkan": Iree,
    "tinygrad": Tinygrad,
    "wgpu": Wgpu,
    "taichi": Taichi,
}
