"""What one run of a mechanism certifies: guesses of canaries' coins, and bets on single steps."""
