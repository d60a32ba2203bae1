"""The server program: its options, option file, command line, files and error log."""
