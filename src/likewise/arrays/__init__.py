"""Arrays: namespaces, memory, seeded streams, compiled functions."""
