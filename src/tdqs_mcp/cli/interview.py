"""Asks the open questions of a rewrite on a terminal, one by one, and writes the answers into a material file."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from tdqs_mcp.report.escape import printable
from tdqs_mcp.results.improvements import HINT_ASPECTS, Aspect, Question
from tdqs_mcp.sources.files import read_text, write_bytes
from tdqs_mcp.sources.input_files import add_answers

MATERIAL_FILE = Path("material.yml")
"""Where the answers go if no file is named."""

_BARE = re.compile(r"\s*(?:y|n|yes|no|true|false)\s*[.!]?\s*", re.IGNORECASE)
_YES_NO = re.compile(r"\s*(?:y|n|yes|no|true|false)\b", re.IGNORECASE)
_SHORT = {"y": "yes", "n": "no"}


def check_terminal() -> None:
    """Raises UsageError where nobody can be asked."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError(
            "--interview asks on a terminal, and this is none; without it the questions are listed with their ids, and "
            "--material FILE takes the answers: {answers: {ID: text}}"
        )


def interview(questions: Sequence[Question], path: Path) -> None:
    """Asks each question; every answer is in the file as soon as it is given."""
    asked = [question for question in questions if question.about is not Aspect.CONFLICT]
    if not asked:
        click.echo("There is nothing to ask.", err=True)
        return
    count = "1 question" if len(asked) == 1 else f"{len(asked)} questions"
    click.echo(printable(f"{count}. Enter skips one, quit ends; the answers go into {path}."), err=True)
    given = 0
    try:
        for number, question in enumerate(asked, start=1):
            click.secho(printable(f"{number} of {len(asked)}   {question.id}"), err=True, dim=True)
            click.echo(printable(question.text), err=True)
            answer = _answer(question)
            if answer == "quit":
                break
            if answer:
                text = read_text(path) if path.exists() else ""
                write_bytes(path, add_answers(text, {question.id: answer}, origin=repr(str(path))).encode())
                given += 1
    finally:  # also when it is interrupted
        click.echo(printable(f"{given} of {count} answered, in {path}."), err=True)


def _answer(question: Question) -> str:
    """An answer that can be used, nothing, or `quit`."""
    is_hint = question.about in HINT_ASPECTS
    while True:
        text = str(click.prompt("", default="", show_default=False, prompt_suffix="> ", err=True)).strip()
        if text in ("", "q", "quit"):
            return "quit" if text else ""
        if is_hint and not _YES_NO.match(text):
            click.echo("Answer yes or no, and what there is to add; Enter skips.", err=True)
        elif not is_hint and _BARE.fullmatch(text):
            click.echo("Answer in a sentence; Enter skips.", err=True)
        else:
            return _SHORT.get(text.lower(), text)
