"""The chips whose drivers compile here, and how Mesa is told which of them it has."""

from __future__ import annotations

from typing import NamedTuple


class Driver(NamedTuple):
    """A Vulkan driver: its manifest, the stub that answers for the kernel's driver, and what else it is told."""

    manifest: str
    stub: str | None = None
    environment: tuple[str, ...] = ()


BUILD = "/src/build/src"  # where Mesa's stubs, and the drivers without a package, are built
_OF_DEBIAN = "/usr/share/vulkan/icd.d"
DRIVERS = {
    "RADV": Driver(f"{_OF_DEBIAN}/radeon_icd.json"),
    "ANV": Driver(f"{_OF_DEBIAN}/intel_icd.json", "intel/tools/libintel_noop_drm_shim.so"),
    "Turnip": Driver(
        "/src/adreno.json",
        "freedreno/drm-shim/libfreedreno_noop_drm_shim.so",
        ("TU_IGNORE_CONFORMANCE_WARNING=true",),
    ),
    # PanVK of Mesa 25.0 has what vkarray needs, and calls itself Vulkan 1.1.
    "PanVK": Driver(
        "/src/mali.json",
        "panfrost/drm-shim/libpanfrost_noop_drm_shim.so",
        ("PAN_I_WANT_A_BROKEN_VULKAN_DRIVER=1", "MESA_VK_VERSION_OVERRIDE=1.3"),
    ),
    "V3DV": Driver("/src/v3d.json", "broadcom/drm-shim/libv3d_noop_drm_shim.so"),
    "NVK": Driver(
        f"{_OF_DEBIAN}/nouveau_icd.json",
        "drm-shim/libnouveau_noop_drm_shim.so",
        ("NVK_I_WANT_A_BROKEN_VULKAN_DRIVER=1",),
    ),
}


class Chip(NamedTuple):
    """A chip: what stands in the tables, an example of where it is, its driver, and the setting that names it."""

    family: str
    example: str
    driver: str
    setting: str


CHIPS = {
    "gfx8": Chip("AMD GFX8", "Radeon RX 480, 2016", "RADV", "RADV_FORCE_FAMILY=POLARIS10"),
    "gfx9": Chip("AMD GFX9", "Radeon RX Vega 64, 2017", "RADV", "RADV_FORCE_FAMILY=VEGA10"),
    "rdna2": Chip("AMD RDNA2", "Radeon RX 6800, 2020", "RADV", "RADV_FORCE_FAMILY=NAVI21"),
    "rdna3": Chip("AMD RDNA3", "Radeon RX 7900, 2022", "RADV", "RADV_FORCE_FAMILY=NAVI31"),
    "rdna4": Chip("AMD RDNA4", "Radeon RX 9060, 2025", "RADV", "RADV_FORCE_FAMILY=GFX1200"),
    "gen9": Chip("Intel Gen9", "HD Graphics 530, 2015", "ANV", "INTEL_STUB_GPU_PLATFORM=skl"),
    "alchemist": Chip("Intel Alchemist", "Arc A770, 2022", "ANV", "INTEL_STUB_GPU_PLATFORM=dg2"),
    "lunarlake": Chip("Intel Lunar Lake", "Arc 140V, 2024", "ANV", "INTEL_STUB_GPU_PLATFORM=lnl"),
    "adreno630": Chip("Qualcomm Adreno 630", "Snapdragon 845, 2018", "Turnip", "FD_GPU_ID=630"),
    "adreno750": Chip("Qualcomm Adreno 750", "Snapdragon 8 Gen 3, 2024", "Turnip", "FD_GPU_ID=750"),
    "mali-g610": Chip("Arm Mali G610", "Dimensity 8100, 2022", "PanVK", "PAN_GPU_ID=a867"),
    "v3d42": Chip("Broadcom V3D 4.2", "Raspberry Pi 4, 2019", "V3DV", "V3D=42"),
    "turing": Chip("NVIDIA Turing", "GeForce RTX 2080 Ti, 2018", "NVK", "NOUVEAU_CHIPSET=162"),
}


def environment(chip: Chip) -> list[str]:
    """The settings under which Vulkan has that chip alone."""
    driver = DRIVERS[chip.driver]
    settings = [chip.setting, *driver.environment, f"VK_DRIVER_FILES={driver.manifest}"]
    if driver.stub:
        settings.append(f"LD_PRELOAD={BUILD}/{driver.stub}")
    return [*settings, "MESA_SHADER_CACHE_DISABLE=true"]
