"""Workloads as data: the dialect they are written in, the built-in ones, what the engine is given."""
