"""What every part uses: errors, units, secrets, environment variables, facts of a machine."""
