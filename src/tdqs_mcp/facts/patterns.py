"""Regular expressions that are compiled when a text first needs them, not when the program starts."""

import re
from typing import Any, cast


class _Late:
    """Stands for a pattern: the first use of a method compiles it and keeps the method."""

    def __init__(self, source: str, flags: int) -> None:
        self._made = (source, flags)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever a pattern has
        method = getattr(re.compile(*self._made), name)
        setattr(self, name, method)
        return method


def late(source: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern, to be used like a compiled one; compiling those of all rules takes longer than linting a file."""
    return cast("re.Pattern[str]", _Late(source, flags))
