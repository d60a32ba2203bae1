"""QEMU guests: more faithful disks than User-Mode Linux has, and any CPU count; slower without KVM.

`Machine` is what to boot, `VmHost(machine, console)` boots it, `acceleration` says whether KVM works.
"""
