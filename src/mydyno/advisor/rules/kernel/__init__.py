"""The kernel, its clock and CPUs, and its limits on the server's process."""
