"""dpaudit beside other auditing tools."""
