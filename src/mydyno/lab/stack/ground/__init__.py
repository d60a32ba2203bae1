"""The environment of storage layers: a guest, or a private place on this machine, with its disks."""

from mydyno.lab.stack.ground.ground import Budget, Contents, Disk, DiskLimits, Ground

__all__ = ["Budget", "Contents", "Disk", "DiskLimits", "Ground"]
