"""One experiment over many runs: where it changed."""
