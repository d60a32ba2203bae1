"""InnoDB: redo log, durability, I/O, concurrency, files."""
