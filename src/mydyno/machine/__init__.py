"""A place to run commands: what a host can do, and this machine as the first of them.

`LocalHost().run([...])` runs a command, `.start(...)` a process that dies with mydyno, `.facts(path)`
says what a plan is made for (memory, CPUs, free disk) and `.environment(path)` what a result belongs
to (CPU model, kernel, file system).
"""
