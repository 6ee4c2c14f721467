"""Scores how well the tool definitions of MCP servers communicate to an AI agent: exact TDQS, offline by default."""

from tdqs_mcp.app import explain, lint, prompts, read, score_answers
from tdqs_mcp.sync import load, rewrite, run_suite, score

__all__ = ["explain", "lint", "load", "prompts", "read", "rewrite", "run_suite", "score", "score_answers"]
