"""The models, each of which fits a score to the draws of both sides."""
