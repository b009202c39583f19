"""Files of draws: which are read, how their cells are told apart, and how much memory they take."""
