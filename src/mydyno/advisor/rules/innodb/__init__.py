"""InnoDB: memory, redo log, I/O, concurrency, files."""
