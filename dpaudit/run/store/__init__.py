"""What a run keeps on disk while it is under way: draws, the search, a lock and its progress."""
