"""The command line: one file a command, each thin. Heavy imports wait until a command runs."""
