"""Measurements of a definition; nothing here grades."""
