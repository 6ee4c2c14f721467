"""Rubrics as data: dimensions and prompts in, a case rendered to a prompt, an answer read to a verdict."""
