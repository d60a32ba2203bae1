"""A trace replayed on the user's own data on two sides, and what differs, statement by statement."""
