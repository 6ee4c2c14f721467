"""Rewritten definitions as edits of the Python source that they come from; nothing of it is run."""
