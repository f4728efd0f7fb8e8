"""The device features that vkarray knows: where Vulkan keeps them, and the names VKARRAY_DISABLE accepts.

Besides Vulkan's own feature names there are a few of ours, for abilities that Vulkan states elsewhere: the subgroup
operations, `hostVisibleDeviceMemory` (device memory that the host can map; without it every transfer goes through the
staging ring), `externalMemoryHost` (import of host memory), `timestamps`, and those of `ARITHMETIC`.
"""

from __future__ import annotations

# Features of core structures, by structure. Only what compute shaders can use is enabled.
CORE_FEATURES: dict[str, tuple[str, ...]] = {
    "VkPhysicalDeviceFeatures": ("shaderFloat64", "shaderInt64", "shaderInt16"),
    "VkPhysicalDeviceVulkan11Features": (
        "storageBuffer16BitAccess",
        "uniformAndStorageBuffer16BitAccess",
        "storagePushConstant16",
        "variablePointers",
        "variablePointersStorageBuffer",
    ),
    "VkPhysicalDeviceVulkan12Features": (
        "bufferDeviceAddress",
        "timelineSemaphore",
        "scalarBlockLayout",
        "shaderFloat16",
        "shaderInt8",
        "storageBuffer8BitAccess",
        "uniformAndStorageBuffer8BitAccess",
        "storagePushConstant8",
        "shaderBufferInt64Atomics",
        "shaderSharedInt64Atomics",
        "shaderSubgroupExtendedTypes",
        "vulkanMemoryModel",
        "vulkanMemoryModelDeviceScope",
    ),
    "VkPhysicalDeviceVulkan13Features": (
        "synchronization2",
        "subgroupSizeControl",
        "computeFullSubgroups",
        "shaderIntegerDotProduct",
        "maintenance4",
        "shaderZeroInitializeWorkgroupMemory",
    ),
}

# Feature structures of extensions, some newer than the binding: extension -> (sType, its VkBool32 fields in order).
EXTENSION_FEATURES: dict[str, tuple[int, tuple[str, ...]]] = {
    "VK_EXT_shader_atomic_float": (
        1000260000,
        (
            "shaderBufferFloat32Atomics",
            "shaderBufferFloat32AtomicAdd",
            "shaderBufferFloat64Atomics",
            "shaderBufferFloat64AtomicAdd",
            "shaderSharedFloat32Atomics",
            "shaderSharedFloat32AtomicAdd",
            "shaderSharedFloat64Atomics",
            "shaderSharedFloat64AtomicAdd",
            "shaderImageFloat32Atomics",
            "shaderImageFloat32AtomicAdd",
            "sparseImageFloat32Atomics",
            "sparseImageFloat32AtomicAdd",
        ),
    ),
    "VK_KHR_cooperative_matrix": (1000506000, ("cooperativeMatrix", "cooperativeMatrixRobustBufferAccess")),
    "VK_NV_cooperative_matrix2": (
        1000593000,
        (
            "cooperativeMatrixWorkgroupScope",
            "cooperativeMatrixFlexibleDimensions",
            "cooperativeMatrixReductions",
            "cooperativeMatrixConversions",
            "cooperativeMatrixPerElementOperations",
            "cooperativeMatrixTensorAddressing",
            "cooperativeMatrixBlockLoads",
        ),
    ),
    "VK_EXT_subgroup_size_control": (1000225002, ("subgroupSizeControl", "computeFullSubgroups")),
    "VK_KHR_shader_bfloat16": (
        1000141000,
        ("shaderBFloat16Type", "shaderBFloat16DotProduct", "shaderBFloat16CooperativeMatrix"),
    ),
}

# Extensions that are a part of Vulkan from a version on, whose features are then those of `CORE_FEATURES`.
PROMOTED: dict[str, int] = {"VK_EXT_subgroup_size_control": 1 << 22 | 3 << 12}

# Never enabled: they cost speed or have nothing to do with compute.
NOT_ENABLED = frozenset(
    (
        "shaderImageFloat32Atomics",
        "shaderImageFloat32AtomicAdd",
        "sparseImageFloat32Atomics",
        "sparseImageFloat32AtomicAdd",
        "cooperativeMatrixRobustBufferAccess",
    )
)

# Extensions without a feature structure: extension -> our name for it.
PLAIN_EXTENSIONS: dict[str, str] = {
    "VK_EXT_external_memory_host": "externalMemoryHost",
    "VK_EXT_memory_budget": "memoryBudget",
    "VK_EXT_calibrated_timestamps": "calibratedTimestamps",
    "VK_KHR_calibrated_timestamps": "calibratedTimestamps",
}

# VkSubgroupFeatureFlagBits -> our names.
SUBGROUP_OPERATIONS: dict[int, str] = {
    0x1: "subgroupBasic",
    0x2: "subgroupVote",
    0x4: "subgroupArithmetic",
    0x8: "subgroupBallot",
    0x10: "subgroupShuffle",
    0x20: "subgroupShuffleRelative",
    0x40: "subgroupClustered",
    0x80: "subgroupQuad",
}

# VkComponentTypeKHR, some of them newer than the binding -> the elements of cooperative matrices, by our names.
COMPONENT_TYPES: dict[int, str] = {0: "float16", 1000141000: "bfloat16"}

# What a device's own float32 arithmetic does -> the specialization constant that tells kernels (glsl/lib/float32/bits.glsl):
# comparisons that know subnormal numbers, and NaN; correctly rounded quotients, of subnormal numbers too; correctly rounded roots;
# `fma` that rounds once; and exact conversions of float16 (glsl/lib/dtypes.glsl).
ARITHMETIC: dict[str, int] = {
    "keepsSubnormals": 100, "keepsNaN": 101, "exactDivision": 102, "exactSubnormalDivision": 103, "exactRoot": 104,
    "fusedMultiplyAdd": 105, "exactHalf": 106,
}  # fmt: skip

# VkDriverId -> what of that its drivers do in all kernels, as tests/vk/test_arithmetic.py found.
ARITHMETIC_OF_DRIVERS: dict[int, frozenset[str]] = {
    4: frozenset(("exactDivision", "exactSubnormalDivision", "fusedMultiplyAdd", "exactHalf")),  # NVIDIA's
    13: frozenset(("exactDivision", "exactRoot", "exactHalf")),  # llvmpipe
}

# VkDriverId -> how many registers of 32 bits an invocation has, for the tables of kernels, as Vulkan has no limit that tells.
# "middle" are up to 256 that other invocations then lack, "small" some 64 to 128, "tiny" less. All others are "large", as
# NVIDIA's, where tables were measured.
REGISTERS_OF_DRIVERS: dict[int, str] = {
    **dict.fromkeys((1, 2, 3), "middle"),  # AMD's, its open one, RADV
    **dict.fromkeys((8, 18), "small"),  # Qualcomm's, Turnip: 192, but 96 in workgroups of 512
    **dict.fromkeys((5, 6), "small"),  # Intel's, ANV
    **dict.fromkeys((14, 26), "small"),  # MoltenVK, Honeykrisp
    **dict.fromkeys((9, 20), "tiny"),  # Arm's, PanVK: 64
    **dict.fromkeys((7, 25), "small"),  # Imagination's
    **dict.fromkeys((12, 19), "tiny"),  # Broadcom's, V3DV: 64, where half as many threads run
    21: "middle",  # Samsung's, of AMD's make
}

# VkDriverIds of drivers that give memory to arrays before they unroll the loops which number their elements: Broadcom's, V3DV.
ROLLED_LOOPS = frozenset((12, 19))

# What a kernel may rely on that asks for float controls of 32 bits: their capability in SPIR-V.
ARITHMETIC_OF_CONTROLS: dict[str, int] = {"keepsSubnormals": 4464, "keepsNaN": 4466}

REQUIRED = ("bufferDeviceAddress", "timelineSemaphore")

KNOWN = (
    frozenset(
        [name for names in CORE_FEATURES.values() for name in names]
        + [name for _, names in EXTENSION_FEATURES.values() for name in names]
        + [*PLAIN_EXTENSIONS.values(), *SUBGROUP_OPERATIONS.values(), *ARITHMETIC]
        + ["hostVisibleDeviceMemory", "timestamps"]
    )
    - NOT_ENABLED
)
