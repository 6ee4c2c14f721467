"""All that the text of one definition adds."""

from dataclasses import dataclass

from tdqs_mcp.facts.content.details import Details, details
from tdqs_mcp.facts.content.gain import Gain, gain
from tdqs_mcp.facts.content.parameters import Parameters, parameters
from tdqs_mcp.facts.content.sentences import read_text
from tdqs_mcp.facts.content.style import Style, style
from tdqs_mcp.facts.subject import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What it adds, in counts of distinct words, sentences or marks."""

    gain: Gain
    parameters: Parameters
    details: Details
    style: Style


def read(subject: Subject) -> Content:
    """What the text adds; linear in its length. What speaks for it is counted in the sentences that tell something."""
    text = read_text(subject)
    return Content(
        gain=gain(text, subject.prose),
        parameters=parameters(text, subject),
        details=details(text),
        style=style(text, subject),
    )
