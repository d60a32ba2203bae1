"""What the numbers say: intervals, comparisons and verdicts. Pure functions over plain records, no I/O."""
