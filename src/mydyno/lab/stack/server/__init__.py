"""A private mysqld or mariadbd: its data directory, accounts and life."""
