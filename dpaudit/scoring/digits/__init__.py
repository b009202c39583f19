"""What the digits of numbers show beside their size: bits of floats, and rests on division."""
