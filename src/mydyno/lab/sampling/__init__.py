"""From the engine's raw messages to series and records: which counters there are and what they mean. Pure."""
