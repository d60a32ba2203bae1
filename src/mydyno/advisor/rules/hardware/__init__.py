"""Disks, arrays, volumes, file systems and mounts."""
