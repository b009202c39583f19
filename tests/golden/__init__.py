"""What about 60 calls and commands return, as it was when they were last looked at."""
