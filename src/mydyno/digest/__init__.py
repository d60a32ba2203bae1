"""What ran on a server, grouped by fingerprint: records, comparison, index candidates. Pure."""
