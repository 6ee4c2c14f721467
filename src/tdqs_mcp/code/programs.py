"""Effects of started programs as data: `data/commands.toml`, whose head explains the entries."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, takewhile

from tdqs_mcp.code.values import Argument, Constant, Listing, Value, text_of
from tdqs_mcp.facts.lexicon import read_table
from tdqs_mcp.results.tool_code import is_local

UNKNOWN_PROGRAM = frozenset({"unknown"})
CHANGING = frozenset({"adds", "writes", "deletes"})

_OPEN = "{}"
"""A word that is computed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _CommandEntry:
    does: frozenset[str]
    options: frozenset[str] | None
    without: frozenset[str]
    needed: frozenset[str]
    takes_words: bool

    def fits(self, words: Sequence[str]) -> bool | None:
        """Return whether the words after the subcommand are such as the entry speaks of; None where computed ones tell.

        A computed word after an option is that one's value.
        """
        leading = list(takewhile(lambda word: word != "--", words))
        named = [self._names(word) for word in leading if word.startswith("-") and word != "-"]
        options = frozenset[str]().union(*named)
        is_bare = not any(word == "-" or not word.startswith("-") for word in words)
        if (self.options is not None and not options <= self.options) or not self.without.isdisjoint(options):
            return False
        is_open = any(word == _OPEN and not before.startswith("-") for before, word in pairwise(["", *leading]))
        if is_open and not (self.options is None and self.takes_words and self.needed <= options):
            return None
        return (not self.needed or not self.needed.isdisjoint(options)) and (self.takes_words or is_bare)

    def _names(self, word: str) -> frozenset[str]:
        """Return the options of a word: of `-la` both, unless `-la` is one of those that the entry knows."""
        name = word.partition("=")[0]
        own = (self.options or frozenset()) | self.without | self.needed
        if name in own or not re.fullmatch(r"-[A-Za-z]{2,4}", name):
            return frozenset() if name[1:].isdigit() else frozenset({name})
        return frozenset(f"-{letter}" for letter in name[1:]) | {name} & self.without


@dataclass(frozen=True, slots=True, kw_only=True)
class _Programs:
    entries: Mapping[str, Sequence[_CommandEntry]]
    before: Sequence[Sequence[str]]
    remote: frozenset[str]
    interpreters: frozenset[str]
    valued: Mapping[str, frozenset[str]]


@cache
def _programs() -> _Programs:
    data = read_table("commands", package="code")
    entries: dict[str, list[_CommandEntry]] = {}
    for row in data["command"]:
        entry = _CommandEntry(
            does=frozenset(row["does"].split()),
            options=frozenset(row["options"].split()) if "options" in row else None,
            without=frozenset(row.get("without", "").split()),
            needed=frozenset(row.get("with", "").split()),
            takes_words=row.get("words") != "none",
        )
        for name in _listed(row["names"]):
            entries.setdefault(name, []).append(entry)
    return _Programs(
        entries=entries,
        before=[words.split() for words in _listed(data["before"])],
        remote=frozenset(_listed(data["remote"])),
        interpreters=frozenset(_listed(data["interpreters"])),
        valued={program: frozenset(options.split()) for program, options in data["valued"].items()},
    )


def _listed(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split(",")]


def read_command(arguments: Sequence[Value], keywords: Mapping[str, Value]) -> tuple[str, frozenset[str]]:
    """Return the words of a command as far as they are known, and what it does.

    `run(["git", "push"])`, `execFile("git", ["push"])`, `exec("git push && git gc")`.
    """
    words: list[str] = []
    is_shell = False
    for value in (*arguments, *(keywords[key] for key in ("args", "command", "cmd") if key in keywords)):
        if isinstance(value, Listing):
            words += [text_of(inner) or _OPEN for inner in value.values]
            break
        text = text_of(value)
        is_shell |= text is not None and " " in text.strip() and not words
        words += [text] if text is not None else []
    text = " ".join(" ".join(word for word in words if word != _OPEN).split())[:120]
    return text, _shell_effects(words[0]) if is_shell else program_effects(words)


def _shell_effects(text: str) -> frozenset[str]:
    """Return what a line of a shell does: the worst of its programs, and what is written to a file beside."""
    plain = re.sub(r"\d?>&\d|[&\d]?>+\s*/dev/null", " ", text)
    does = {"writes"} if ">" in plain else set[str]()
    if "$(" in plain or "`" in plain or "<(" in plain:
        does.add("unknown")
    for part in re.split(r"&&|\|\||[;|&\n]", re.sub(r">+\s*\S+", " ", plain)):
        try:
            words = shlex.split(part)
        except ValueError:
            words = part.split()
        does |= program_effects(words) if words else set()
    return frozenset(does)


def program_effects(words: Sequence[str]) -> frozenset[str]:
    """Return what a program does with these words; more than `unknown` only where the data names all of it."""
    data = _programs()
    words = [word for word in words if word]
    for prefix in data.before:
        if words[: len(prefix)] == prefix:
            rest = words[len(prefix) :]
            return _shell_effects(rest[0]) if len(rest) == 1 else program_effects(rest)
    if not words or words[0] == _OPEN:
        return UNKNOWN_PROGRAM
    program = _name(words[0])
    rest = _without_settings(words[1:], data.valued.get(program, frozenset()))
    if rest[:1] and rest[0] in _ASKING and all(word.startswith("-") for word in rest):
        return frozenset({"reads"})
    for length in (2, 1, 0):
        name = " ".join([program, *rest[:length]])
        if len(rest) >= length and name in data.entries:
            return _without_here(_chosen(data.entries[name], rest[length:], _default(program)), rest)
    return _without_here(_default(program), rest)


def _name(word: str) -> str:
    """Return a program's name without its folder."""
    return re.split(r"[\\/]", word)[-1].removesuffix(".exe")


def _chosen(entries: Sequence[_CommandEntry], words: Sequence[str], default: frozenset[str]) -> frozenset[str]:
    """Return what the first entry that fits says; of several that computed words may mean what all of them say."""
    possible: list[frozenset[str]] = []
    for entry in entries:
        is_fitting = entry.fits(words)
        if is_fitting is not False:
            possible.append(entry.does)
        if is_fitting:
            break
    else:
        possible.append(default)
    common = frozenset.intersection(*possible)
    if len(set(possible)) == 1 or not all(CHANGING & does for does in possible):
        return common if len(set(possible)) == 1 else UNKNOWN_PROGRAM | common & {"remote"}
    return common | {"writes"}


def _without_here(does: frozenset[str], words: Iterable[str]) -> frozenset[str]:
    """Return what a program does, which reaches no other machine where it is told an address of this one."""
    hosts = [word.partition("://")[2] for word in words if "://" in word]
    return does - {"remote"} if hosts and all(map(is_local, hosts)) else does


def _default(program: str) -> frozenset[str]:
    return UNKNOWN_PROGRAM | {"remote"} if program in _programs().remote else UNKNOWN_PROGRAM


def _without_settings(words: Sequence[str], valued: Iterable[str]) -> list[str]:
    """Return the words without the options before a subcommand that say where it works: `git -C boats status`."""
    rest = list(words)
    while rest and rest[0].partition("=")[0] in valued:
        del rest[: 1 if "=" in rest[0] else 2]
    return rest


_ASKING = frozenset("version --version -V -v help --help -h".split())
"""Only word after a program's name with which it tells of itself."""


def runs_text(arguments: Sequence[Value]) -> bool:
    """Return whether the agent writes what is run: `run(command, shell=True)`, `run(["python", "-c", code])`."""
    first = arguments[0] if arguments else None
    if isinstance(first, Argument):
        return True
    for value in arguments:
        words = value.values if isinstance(value, Listing) else ()
        if words and isinstance(words[0], Argument):
            return True
        before = [] if value is first else [text_of(arguments[0])]
        for flag, code in pairwise(words):
            if text_of(flag) in _CODE_FLAGS and isinstance(code, Argument) and _may_interpret(before):
                return True
            before.append(text_of(flag))
    return False


_CODE_FLAGS = frozenset({"-c", "-lc", "-e", "--eval", "/c", "/C", "-Command"})
"""Options of shells and interpreters before a program's text."""


def _may_interpret(words: Sequence[str | None]) -> bool:
    """Return whether one of the words before an option is a program that runs a text, or the program is computed.

    `kubectl exec pod -- sh -c CODE`, but not `kubectl logs pod -c CONTAINER`.
    """
    names = [re.sub(r"[\d.]+$", "", _name(word)) for word in words if word]
    return words[:1] in ([], [None], [_OPEN]) or not _programs().interpreters.isdisjoint(names)


def spelled(arguments: Sequence[Value], keywords: Mapping[str, Value]) -> list[str]:
    """Return the words of a command that a library's function stands for: `repo.git.reset("HEAD", hard=True)`."""
    options = [
        f"-{'-' if len(key) > 1 else ''}{key.replace('_', '-')}"
        for key, value in keywords.items()
        if value not in (Constant(value=False), Constant(value=None))
    ]
    return [*options, *(text_of(value) or _OPEN for value in arguments)]
