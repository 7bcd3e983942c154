"""How many bytes comparisons may take: on a device, and in the memory of its host."""

from __future__ import annotations

import os
from pathlib import Path

import torch

_SHARE_OF_DEVICE = 0.6
_SHARE_OF_HOST = 0.5  # what a device reads from directly cannot be swapped out
_LIMITS = (  # of a container, version 2 and 1: what it may use, and what it uses
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def device_room(device: torch.device) -> float:
    """Bytes that comparisons may take on a device."""
    if device.type != "cuda":
        return float("inf")
    return _SHARE_OF_DEVICE * torch.cuda.mem_get_info(device)[0]


def host_room() -> float:
    """Bytes that comparisons may take in the host's memory: half of what is free, and of what a container may use."""
    rooms = [_available()]
    for limit, used in _LIMITS:
        most = _number(Path(limit))
        if most is not None:
            rooms.append(max(0.0, most - (_number(Path(used)) or 0.0)))
    return _SHARE_OF_HOST * min(rooms)


def _available() -> float:
    """Bytes that the machine can still give; where it does not tell, those that it has."""
    try:
        told = Path("/proc/meminfo").read_text("utf-8")
        return 1024.0 * next(float(line.split()[1]) for line in told.splitlines() if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")) if hasattr(os, "sysconf") else 0.0


def _number(file: Path) -> float | None:
    """The number in a file; None where there is none ("max" is no limit)."""
    try:
        return float(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None
