"""What commands print, as text or as JSON: a module for each kind of answer. Nothing here runs."""
