"""Several scenarios as a suite: outcomes, comparison with an earlier run, CI files, index page."""
