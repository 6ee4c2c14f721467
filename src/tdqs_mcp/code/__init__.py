"""Behavior of tools, read from their source, which is never run."""
