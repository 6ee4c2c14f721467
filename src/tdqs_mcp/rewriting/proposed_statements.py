"""Typed statements that a definition may newly make, each with its route, its component and its evidence."""

from collections.abc import Sequence
from dataclasses import dataclass

from tdqs_mcp.json_text import TextEdit
from tdqs_mcp.results.improvements import Claim, Component, Route

CJK = "\u2e80"
"""The first of the characters whose sentences end in a full stop of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """An improvement, made or left out as a whole.

    It is built only where its evidence is there, so nobody checks its words again.
    """

    path: str
    """JSON pointer inside the definition."""

    component: Component
    route: Route
    sources: tuple[str, ...]
    splices: tuple[TextEdit, ...] = ()
    """What changes in the old description."""

    sentence: str = ""
    """Goes to the description's end."""

    value: object = None
    """The whole new value of what stands at any other path."""

    @property
    def has_words(self) -> bool:
        """It makes the definition longer for its reader."""
        return bool(self.sentence) or isinstance(self.value, str)

    def claim(self) -> Claim:
        """The statement as it is reported."""
        spliced = " ".join(splice.text.strip() for splice in self.splices) or self.route
        text = self.sentence or (spliced if self.splices else str(self.value))
        return Claim(path=self.path, text=text, sources=self.sources, component=self.component, route=self.route)


def add_sentence(text: str, route: Route, sources: Sequence[str], *, component: Component | None = None) -> Statement:
    """A sentence for the description's end."""
    return Statement(
        path="/description",
        component=component or COMPONENTS[route],
        route=route,
        sources=tuple(dict.fromkeys(sources)),
        sentence=text,
    )


def set_value(
    path: str, value: object, route: Route, sources: Sequence[str], *, component: Component | None = None
) -> Statement:
    """A new value for what stands at any path but the description's."""
    about, named_sources = component or COMPONENTS[route], tuple(dict.fromkeys(sources))
    return Statement(path=path, component=about, route=route, sources=named_sources, value=value)


COMPONENTS = {
    Route.RETURNS: Component.PURPOSE,
    Route.ALTERNATIVE: Component.GUIDELINES,
    Route.LOOKUP: Component.GUIDELINES,
    Route.HINT: Component.LIMITATIONS,
    Route.FAILURE: Component.LIMITATIONS,
    Route.NAMESAKE: Component.PARAMETERS,
    Route.VALUES: Component.PARAMETERS,
    Route.UNIT: Component.PARAMETERS,
    Route.EXAMPLE: Component.EXAMPLES,
    Route.CUT: Component.LENGTH,
}
"""What a statement of each route is about; a fact or an answer of the author may be about anything."""
