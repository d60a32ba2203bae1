"""Charts of every page: theme, labels, drawing in a separate process, live in the browser."""
