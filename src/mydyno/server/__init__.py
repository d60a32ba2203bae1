"""MySQL and MariaDB: logging in, their variables, their programs, and the releases that can be installed."""
