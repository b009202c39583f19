"""Small networks, and scores in the few directions that a network finds."""
