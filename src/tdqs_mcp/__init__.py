"""Scores how well the tool definitions of MCP servers communicate to an AI agent: exact TDQS, offline by default."""

from tdqs_mcp.app import explain, lint, prompts, read, score_answers
from tdqs_mcp.sync import load, rewrite, score

__all__ = ["explain", "lint", "load", "prompts", "read", "rewrite", "score", "score_answers"]
