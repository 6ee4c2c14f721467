"""Results as text, Markdown and JSON; pure functions."""
