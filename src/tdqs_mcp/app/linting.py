"""Findings without a score: which rules run, what they find, and the places in a file that it is about."""

import contextlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from runpy import run_path
from typing import Any

from tdqs_mcp.app.configuration import Configuration, is_text
from tdqs_mcp.errors import InputError, TdqsError
from tdqs_mcp.facts.subject import Measured, measure, measure_together
from tdqs_mcp.gate.known_findings import suppress
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.lint_report import LocatedReport
from tdqs_mcp.results.findings import Finding, LintReport, RuleEntry, RuleList, Severity, Suppression
from tdqs_mcp.results.portability import PortabilityReport
from tdqs_mcp.results.tool_code import CodeReport, SourcePlace
from tdqs_mcp.rules import registry
from tdqs_mcp.rules.client_rules import view_catalog
from tdqs_mcp.rules.registry import RULES, RuleSelection
from tdqs_mcp.rules.rule import AnyRule, Hit, Rule, lane_of
from tdqs_mcp.sources.files import DefinitionText, locate
from tdqs_mcp.sources.locator import CODE_SUFFIXES, File, InProcess, parse_locator

_ID = re.compile(r"(?!TDQ)[A-Z]{2,}\d{3}")


def load_rules(module: str) -> tuple[AnyRule, ...]:
    """All rules, ours and those of a module: the path of a `.py` file, or a name that Python can import from here.

    Raises InputError for a module that cannot be imported, has no rule, or has one whose words mean another.
    """
    rules = tuple(rule for rule in _names_of(module).values() if isinstance(rule, Rule))
    if not rules:
        raise InputError(
            f'{module!r} has no rule; write @rule("ORG001", ...) above a function, as docs/custom-rules.md says'
        )
    rule_by_word = {word: rule for rule in RULES for word in registry.words_of(rule)}
    # a rule ORG001 named "description-is-name" would change what --ignore description-is-name means for ours
    for rule in rules:
        if not _ID.fullmatch(rule.id):
            raise InputError(
                f"{module!r}: the id {rule.id!r} must be capitals, not TDQ, and three digits, as in ORG001"
            )
        for word in (rule.id.lower(), rule.name, *map(str.lower, rule.aliases)):
            if rule_by_word.setdefault(word, rule) is not rule:
                raise InputError(
                    f"{module!r}: {word!r} of {rule.id} means {rule_by_word[word].id} already; give it another name"
                )
    return (*RULES, *(replace(rule, check=_blaming_module(rule, module)) for rule in rules))


def _names_of(module: str) -> Mapping[str, Any]:
    """Return a module's names, once it has run."""
    try:
        if module.endswith(".py"):
            return run_path(module)
        sys.path.insert(0, str(Path.cwd()))
        try:
            return vars(import_module(module))
        finally:
            sys.path.pop(0)
    except (Exception, SystemExit) as error:  # a foreign module may raise anything
        failure = f"{type(error).__name__}: {error}"
        raise InputError(
            f"the rules of {module!r} cannot be imported ({failure}); give a module or a .py file"
        ) from error


def _blaming_module(rule: AnyRule, module: str) -> Callable[..., Iterator[Hit]]:
    """The rule's check, whose failures are said to be the module's."""

    def check(facts: Any, **limit: int) -> Iterator[Hit]:  # noqa: ANN401  # whatever the rule reads
        try:
            yield from rule.check(facts, **limit)
        except Exception as error:
            failure = f"{type(error).__name__}: {error}"
            raise InputError(
                f"{rule.id} of {module!r} failed ({failure}); correct it, or --ignore {rule.id}"
            ) from error

    return check


NEVER = "never"
"""The value of fail-on that lets every finding pass."""

FAIL_ON = (*(severity.value for severity in Severity), NEVER)

OFF = "off"
"""The severity at which a rule does not run."""

_SUPPRESSION = dict.fromkeys(("rule", "tool", "path", "server", "reason"), (is_text, "a string"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Which rules run on which tools, which findings are suppressed, and from which severity a finding fails."""

    selection: RuleSelection = registry.DEFAULT
    tools: tuple[str, ...] = ()
    """Patterns with * and ? of the tools' names; empty for all tools and the server."""

    suppressions: tuple[Suppression, ...] = ()
    code: CodeReport | None = None
    """What the code of the tools does, for the rules that hold definitions against it."""

    fail_on: Severity | None = Severity.ERROR
    """None if no finding fails."""


DEFAULT_POLICY = Policy()


def read_policy(
    flags: Mapping[str, Any],
    *,
    environ: Mapping[str, str],
    configuration: Configuration,
    table: Sequence[AnyRule] = registry.RULES,
) -> Policy:
    """The policy in force: flags before the variables, such as TDQS_SELECT and TDQS_CLIENT, before the file.

    The flags have the keys of a file; None says nothing. What a flag selects in full, no lower level ignores. Raises
    InputError and UnknownIdError.
    """
    files = [(file.table, str(file.path)) for file in configuration.files[::-1]]
    below = [(_from_environment(environ), "the environment"), *files]
    for values, origin in below:
        if values:
            _check_choice(values, origin, table)
    levels = [flags, *(values for values, _ in below)]

    def first(key: str, default: Any) -> Any:  # noqa: ANN401  # a key's value
        return next((values[key] for values in levels if values.get(key) is not None), default)

    ignored = first("ignore", ())
    if flags.get("ignore") is None and flags.get("select") is not None:
        selected = {name.lower() for name in flags["select"]}
        ignored = tuple(name for name in ignored if name.lower() not in selected)
    return Policy(
        selection=registry.select(
            names=first("select", ()),
            ignored=ignored,
            profile=first("profile", None),
            severities=dict(_severity(*member, table) for member in configuration.members("severity")),
            limits=dict(_limit(*member, table) for member in configuration.members("limits")),
            clients=first("client", ()),
            table=table,
        ),
        suppressions=tuple(_suppression(*entry, table) for entry in configuration.entries("suppress", _SUPPRESSION)),
        fail_on=_fail_on(first("fail-on", Severity.ERROR)),
    )


def lint(catalog: Catalog, policy: Policy = DEFAULT_POLICY) -> LintReport:
    """The findings about a catalog that a policy asks for, and how many it hides and suppresses."""
    return fold(report_findings(measure(catalog), policy), policy)


def lint_together(catalogs: Sequence[Catalog], policy: Policy = DEFAULT_POLICY) -> list[LintReport]:
    """Return the findings about servers that an agent sees together; each report tells what two of them share.

    What several tools of a server share is not folded yet, so that a baseline knows each tool's findings.
    """
    return [report_findings(measured, policy) for measured in measure_together(catalogs)]


def fold(report: LintReport, policy: Policy) -> LintReport:
    """Return the report with one finding about the server for what several of its tools share."""
    if policy.tools:
        return report
    findings = registry.fold(report.findings, policy.selection, tool_count=len(report.tools))
    return replace(report, findings=tuple(findings))


def read_source(folder: Path) -> CodeReport:
    """Return what the code of a folder's tools does. Raises InputError, also where a package to read it is missing."""
    from tdqs_mcp.code.reading import read_code  # noqa: PLC0415  # most runs read no code

    return read_code(folder)


def read_own_code(locator: str, cwd: str | None = None) -> CodeReport | None:
    """Return the code that a locator is, or runs in this process; None for any other. Raises InputError."""
    folder = source_of(locator, cwd)
    return read_source(folder) if folder else None


def report_findings(measured: Measured, policy: Policy) -> LintReport:
    """Return the findings about a catalog that is measured already."""
    report = find(measured, policy)
    findings = (*report.findings, *(suppressed_finding.finding for suppressed_finding in report.suppressed))
    hidden = registry.find_hidden(measured, policy.selection, findings)
    chosen = tuple(finding for finding in hidden if _is_wanted(finding, policy.tools))
    left = suppress(replace(report, findings=chosen), policy.suppressions, rules=policy.selection.hidden)
    return replace(report, hidden=len(left.findings))


def find(measured: Measured, policy: Policy) -> LintReport:
    """Return the same, but for what the policy hides, which is not counted."""
    catalog = measured.catalog
    measured = replace(measured, code=policy.code) if policy.code else measured
    tools = {tool.index: tool.name for tool in catalog.tools if _matches(tool.name, policy.tools)}
    findings = registry.check(measured, policy.selection, tools=tools if policy.tools else None)
    report = LintReport(
        **catalog.origin,
        tools=tools,
        findings=tuple(finding for finding in findings if _is_wanted(finding, policy.tools)),
        problems=catalog.remarks,
    )
    report = suppress(report, policy.suppressions, rules=policy.selection.rules)
    return replace(report, unused_suppressions=()) if policy.tools else report


def _is_wanted(finding: Finding, patterns: Sequence[str]) -> bool:
    return not patterns or (finding.tool_index is not None and _matches(finding.subject.name, patterns))


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def list_rules(table: Sequence[AnyRule] = registry.RULES) -> RuleList:
    """Every rule of a table."""
    names = [entry.name for entry in fields(RuleEntry) if entry.name not in ("lane", "default")]
    return RuleList(
        rules=tuple(
            RuleEntry(
                lane=lane_of(rule.id),
                default=registry.is_default(rule),
                **{name: getattr(rule, name) for name in names},
            )
            for rule in table
        )
    )


def portability(catalog: Catalog, clients: Sequence[str] = ()) -> PortabilityReport:
    """Return what each of these clients, or each known one, would show a model of the tools. Raises UnknownIdError."""
    return view_catalog(measure(catalog), clients)


def locate_report(
    report: LintReport, catalog: Catalog, locator: str, code: CodeReport | None = None, named_file: str = "tdqs.toml"
) -> LocatedReport:
    """Return the report with what its definitions stand in, to show a finding where it was made.

    That is their code where it was read, else their file, else for SARIF and annotations `named_file`.
    """
    parsed, places = parse_locator(locator), source_places(code)
    start = next((parts[""].file for parts in places.values()), named_file)
    located = LocatedReport(report=report, catalog=catalog, places=places, named_file=start)
    if not isinstance(parsed, File) or parsed.path == "-" or not Path(parsed.path).is_file():
        return located
    path = Path(parsed.path)

    @cache
    def read_positions() -> DefinitionText | None:
        try:
            return locate(path.read_bytes())
        except OSError:  # it was there a moment ago; the findings hold all the same
            return None

    return replace(located, file=_below_cwd(path).as_posix(), positions=read_positions)


def source_places(code: CodeReport | None) -> dict[str, dict[str, SourcePlace]]:
    """Return where the parts of each tool stand, with files relative to the working directory; nothing without code."""
    if code is None:
        return {}
    folder = _below_cwd(Path(code.folder))
    return {
        tool.name: {path: replace(place, file=(folder / place.file).as_posix()) for path, place in tool.places.items()}
        for tool in code.tools
        if tool.places
    }


NAMED_FILES = (".mcp.json", "server.json", "package.json", "pyproject.toml")
"""Files that declare a server; the first one here stands for a server that is read from no file."""


def named_file(configuration: Configuration) -> str:
    """Return the file that findings of a live server point to: the configuration, else what declares a server here."""
    read = [file.path for file in configuration.files if file.path]
    files = [*read, *(Path(name) for name in NAMED_FILES if Path(name).exists())]
    return _below_cwd(files[0]).as_posix() if files else "tdqs.toml"


def source_of(locator: str, cwd: str | None) -> Path | None:
    """Return the code of a server object, found without running it, or of a locator that is code; None for others."""
    parsed = parse_locator(locator)
    if isinstance(parsed, File):
        path = Path(parsed.path)
        return path if path.is_dir() or (path.is_file() and path.suffix in CODE_SUFFIXES) else None
    if not isinstance(parsed, InProcess):
        return None
    files = _module_files(parsed.module, cwd)
    name = parsed.attribute.partition(".")[0]
    if files and len(files) > parsed.module.count(".") and files[-1].is_file():
        text = files[-1].read_text(encoding="utf-8", errors="replace")
        if not re.search(rf"\b{name}\b|import \*|__getattr__|globals\(|setattr\(", text):
            raise InputError(f"{str(files[-1])!r} has no {name!r}; give the server object that it has")
    return next((file.parent if file.name == "__init__.py" else file for file in files), None)


def _module_files(module: str, cwd: str | None) -> list[Path]:
    """Return the files of the packages around a module and its own, as far as they are found without running it."""
    search, files = [cwd or str(Path.cwd()), *sys.path], list[Path]()
    with contextlib.suppress(ImportError, ValueError):
        for part in module.split("."):
            spec = PathFinder.find_spec(part, search)
            search = list(spec.submodule_search_locations or ()) if spec else []
            origin = (spec and spec.origin) or (f"{search[0]}/__init__.py" if search else "")
            if not origin.endswith(".py"):
                break
            files.append(Path(origin))
    return files


def _below_cwd(path: Path) -> Path:
    """The path relative to the working directory where it is below it, else absolute."""
    if not path.is_absolute() and ".." not in path.parts:
        return path
    whole, here = path.resolve(), Path.cwd().resolve()
    return whole.relative_to(here) if whole.is_relative_to(here) else whole


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """The TDQS_ variables by the key of a file that each is named after; an empty variable says nothing."""
    lists, words = ("select", "ignore", "client"), ("profile", "fail-on")
    texts = {key: environ.get(f"TDQS_{key.upper().replace('-', '_')}", "").strip() for key in (*lists, *words)}
    names = {key: [name.strip() for name in texts[key].split(",") if name.strip()] for key in lists}
    return {key: value for key, value in {**texts, **names}.items() if value}


def _check_choice(values: Mapping[str, Any], origin: str, table: Sequence[AnyRule]) -> None:
    """Raises InputError for an unknown word, which says where it is."""
    try:
        for key in ("select", "ignore"):
            registry.select(names=values.get(key, ()), table=table)
        registry.select(profile=values.get("profile"), clients=values.get("client", ()))
        _fail_on(values.get("fail-on", NEVER))
    except TdqsError as error:
        raise InputError(f"{origin}: {error}") from error


def _fail_on(word: str) -> Severity | None:
    if word not in FAIL_ON:
        raise InputError(f"fail-on cannot be {word!r}; give one of {', '.join(FAIL_ON)}")
    return None if word == NEVER else Severity(word)


def _severity(word: str, severity: object, file: str, table: Sequence[AnyRule]) -> tuple[str, Severity | None]:
    origin = f"{file}: severity"
    choices = (*Severity, OFF)
    if not isinstance(severity, str) or severity not in choices:
        raise InputError(f"{origin} of {word!r} cannot be {severity!r}; give one of {', '.join(choices)}")
    _find_rules(word, origin, table)
    return word, None if severity == OFF else Severity(severity)


def _limit(word: str, limit: object, file: str, table: Sequence[AnyRule]) -> tuple[str, int]:
    origin = f"{file}: limits"
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
        raise InputError(f"{origin} of {word!r} cannot be {limit!r}; give a whole number")
    try:
        registry.select(limits={word: limit}, table=table)
    except TdqsError as error:
        raise InputError(f"{origin}: {error}") from error
    return word, limit


def _suppression(entry: Mapping[str, str], origin: str, table: Sequence[AnyRule]) -> Suppression:
    if not entry.get("rule") or not entry.get("reason", "").strip():
        raise InputError(f"{origin} needs a rule and a reason; say why the finding may stay")
    rules = _find_rules(entry["rule"], origin, table)
    word = rules[0] if len(rules) == 1 else entry["rule"].upper()
    return Suppression(**{**entry, "rule": word}, rules=frozenset(rules))


def _find_rules(word: str, origin: str, table: Sequence[AnyRule]) -> tuple[str, ...]:
    try:
        return registry.find_all(word, table)
    except TdqsError as error:
        raise InputError(f"{origin}: {error}") from error
