"""Charts of every page: theme, labels, drawing in a process of its own, live in the browser."""
