"""Disks, arrays, volumes and disk queues."""
