"""The calling agent as judge: which answers are taken, and what they are handed on as."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tdqs_mcp import app
from tdqs_mcp.errors import ContractError, InputError
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.model.results import Verdict
from tdqs_mcp.reporters.fence import fence_name
from tdqs_mcp.rubrics.answer import answer_schema as schema_of
from tdqs_mcp.rubrics.answer import read_answer, read_shadowing_answer
from tdqs_mcp.rubrics.form import SHADOWING
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.server.arguments import Answer

HOST = "host"
"""The judge's id when the calling agent judged."""


@dataclass(slots=True)
class Received:
    """The answers to one catalog's prompts so far: every one of them fits the output format and a definition."""

    tools: dict[str, object] = field(default_factory=dict)
    """Input hash to answer; equal definitions have equal prompts."""

    coherence: object = None
    shadowing: list[object] = field(default_factory=list)
    model: str | None = None
    """Who judges, as the first call that said so named it."""

    def take_tools(self, catalog: Catalog, answers: Iterable[Answer]) -> list[tuple[str, str]]:
        """Keeps the usable answers; gives back name and reason of the others."""
        names = dict(app.to_be_judged(catalog))
        refused = []
        for given in answers:
            name = names.get(given.input_hash)
            if name is None or given.name not in (name, fence_name(name)):
                refused.append((given.name, "no tool of this catalog has this name and inputHash; prepare it again"))
            elif why := _objection(_read_tool, given.answer):
                refused.append((given.name, why))
            else:
                self.tools[given.input_hash] = given.answer
        return refused

    def take_coherence(self, answer: object) -> list[tuple[str, str]]:
        """Keeps a usable answer about the tool set; gives back the reason otherwise."""
        if why := _objection(_read_set, answer):
            return [("coherence", why)]
        self.coherence = answer
        return []

    def take_shadowing(self, catalog: Catalog, pairs: Iterable[object]) -> list[tuple[str, str]]:
        """Keeps the confirmed pairs that were asked about, in place of earlier ones; gives back the others."""
        asked = app.shadow_pairs(catalog)
        self.shadowing, refused = [], []
        for pair in pairs:
            try:
                answer = read_shadowing_answer(pair)
                asked.remove((answer.tool, answer.cheaper_sibling))
            except ContractError as error:
                refused.append(("shadowing", str(error)))
            except ValueError:
                refused.append(("shadowing", "this is no open pair of part shadowing; prepare it again"))
            else:
                self.shadowing.append(pair)
        return refused

    def take_model(self, model: str | None) -> None:
        """Remembers the judging model. Raises InputError for another one: its answers would pass for the first's."""
        if model and self.model and model != self.model:
            raise InputError("another model began this judgement; leave 'judgement' out to begin one of your own")
        self.model = self.model or model or None

    def document(self, catalog: Catalog) -> dict[str, object]:
        """All answers in the shape of `score --answers`."""
        return {
            "tools": [
                {"name": name, "inputHash": digest, "answer": self.tools[digest]}
                for digest, name in app.to_be_judged(catalog)
                if digest in self.tools
            ],
            "coherence": self.coherence,
            "shadowing": self.shadowing,
        }


def answer_schema(part: str) -> Mapping[str, Any]:
    """JSON Schema of the answer to a prompt of this part."""
    if part == "shadowing":
        return SHADOWING
    return schema_of(load("tdqs" if part == "tools" else "coherence"))


def _read_tool(answer: object) -> Verdict:
    return read_answer(load("tdqs"), answer)


def _read_set(answer: object) -> Verdict:
    return read_answer(load("coherence"), answer)


def _objection(read: Callable[[object], Verdict], answer: object) -> str | None:
    """Why an answer breaks the output format; None when it does not."""
    try:
        read(answer)
    except ContractError as error:
        return str(error)
    return None
