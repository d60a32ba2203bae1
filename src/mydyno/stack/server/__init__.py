"""A private mysqld or mariadbd: its binary, settings, data directory, accounts and life."""
