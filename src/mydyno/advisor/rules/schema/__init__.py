"""Tables, indexes and table caches."""
