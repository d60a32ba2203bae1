"""Data of the user's own as a dataset: recognised by its files, loaded or copied, and upgraded."""
