"""Text as anybody may see it: without values of the data, and without control characters."""
