"""The lab in a browser: all runs, one run while it runs, reports, comparisons, trends. It changes nothing."""
