"""From one experiment file to a verdict: spec, stack, load, trials, their analysis and the report."""
