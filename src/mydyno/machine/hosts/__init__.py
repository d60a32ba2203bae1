"""Other machines: reached through a command that gives a byte stream to `mydyno-agent`, and examined."""
