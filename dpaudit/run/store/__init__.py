"""The files of an unfinished run: its draws, the outcomes of its search, a lock, its progress."""
