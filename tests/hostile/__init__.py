"""Attacks: careless code, damaged files, hostile folders. Each was once believed or obeyed."""
