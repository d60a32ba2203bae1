"""One rule a file, in a folder for each part of the system."""
