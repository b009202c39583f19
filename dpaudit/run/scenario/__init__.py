"""A scenario file (TOML) as objects: one file per table. Nothing runs here but the checks."""
