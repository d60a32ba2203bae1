"""The lab: what was measured, kept so that a kill, a full disk or a newer version loses nothing."""
