"""Files replaced whole, inside a root, so that each is the old one or the new one, and the old one comes back."""
