"""Predicates over facts: each says what is wrong, where, and what to do."""
