"""The examples on the rules' pages: definitions below their heading, with the findings that they have."""

import json
import re
from dataclasses import dataclass, field

PART = re.compile(
    r"^## (?P<heading>.+?)$|^```(?P<kind>json|findings|python|javascript)(?: (?P<many>servers))?(?: x(?P<times>\d+))?(?: client=(?P<client>[\w-]+))?\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass
class Example:
    """A definition on a page, below its heading, and the findings that stand below it."""

    heading: str
    text: str
    times: int = 1
    """How many tools like the one shown the example stands for, numbered from 1."""

    clients: tuple[str, ...] = ()
    """The client that it is written for."""

    is_many: bool = False
    """A list of servers that are linted together; their findings begin with the server's place."""

    findings: list[str] = field(default_factory=list)
    source: tuple[str, str] | None = None
    """The name and the text of the file that the tool's code stands in."""

    @property
    def definition(self):
        shown = json.loads(self.text)
        return [self.repeated(each) for each in shown] if self.is_many else self.repeated(shown)

    def repeated(self, shown):
        if self.times == 1:
            return shown
        [only] = shown["tools"]
        return shown | {"tools": [only | {"name": f"{only['name']}_{number}"} for number in range(1, self.times + 1)]}


def examples(rule):
    found, heading = [], ""
    for part in PART.finditer(rule.page):
        if part["heading"]:
            heading = part["heading"]
        elif part["kind"] == "json":
            clients = (part["client"],) if part["client"] else ()
            found.append(Example(heading, part["text"], int(part["times"] or 1), clients, bool(part["many"])))
        elif part["kind"] == "findings":
            found[-1].findings = part["text"].splitlines()
        else:
            found[-1].source = (f"server.{'py' if part['kind'] == 'python' else 'js'}", part["text"])
    return found
