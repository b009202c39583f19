"""Tests of replacements that are searched for by bounds."""
