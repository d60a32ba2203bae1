"""Files replaced whole, inside a root, so that each is the old one or the new one at any moment."""
