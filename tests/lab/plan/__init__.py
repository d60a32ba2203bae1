"""Plans as values: order, cost, memory."""
