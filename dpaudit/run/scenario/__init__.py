"""Models of a scenario file (TOML), a module for each table. They only check; nothing is drawn."""
