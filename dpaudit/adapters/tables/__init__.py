"""Databases in the forms that packages ask for: values, records, data frames; and the outputs."""
