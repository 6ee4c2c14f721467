"""Rules about what MCP says beside JSON Schema, annotations among it, and about marks that act on a reader."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from tdqs_mcp.facts.lexicon import PatternTable, words_from
from tdqs_mcp.facts.schema.walk import Node, escape_step, type_of
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.effects import deleting_verbs, reads_and_writes
from tdqs_mcp.facts.text.prose import sentences_of
from tdqs_mcp.facts.text.steering import find_secret, find_steered_parameters, find_steering
from tdqs_mcp.facts.text.words import OVERT_MUTATIONS, Effect
from tdqs_mcp.facts.threats import ThreatKind
from tdqs_mcp.model import CACHING_HINTS, Catalog, ListedPrompt, Resource, Tool
from tdqs_mcp.results.findings import Confidence, Persona, Severity
from tdqs_mcp.rules.linter_rules import undeclared_properties
from tdqs_mcp.rules.rule import Hit, read_family, rule

MODERN = "2026-07-28"
"""The first revision with caching hints."""

APP_TYPE = "text/html;profile=mcp-app"
"""The only type that MCP Apps 2026-01-26 shows."""

_HEADER = "x-mcp-header"
_PATTERNS = PatternTable("protocol")
_words = partial(words_from, "protocol")


@rule("TDQ260", severity=Severity.ERROR, source="MCP 2026-07-28, Tools, x-mcp-header")
def unfit_header(subject: Subject) -> Iterator[Hit]:
    """A parameter cannot be mirrored into an HTTP header as `x-mcp-header` asks, or is a secret that proxies see."""
    used_names: set[str] = set()
    for node in subject.input_shape.by_keyword.get(_HEADER, ()):
        if reason := _why_unfit_header(node, used_names):
            yield Hit(
                f"{node.path}/{_HEADER}",
                f"x-mcp-header {reason}; clients over HTTP leave the tool out",
                "use a unique header name, on a string, integer or boolean outside arrays",
            )
        elif node.schema.get("format") == "password" or _PATTERNS.secret.search(" ".join(name_parts(node.name or ""))):
            problem = f"{node.name!r} is sensitive, and every proxy can read it in the header"
            fix = "remove x-mcp-header; let proxies route by a value that is not secret"
            yield Hit(f"{node.path}/{_HEADER}", problem, fix, Severity.WARNING)
        used_names.add(str(node.schema[_HEADER]).lower())


def _why_unfit_header(node: Node, used_names: set[str]) -> str | None:
    name, kind = node.schema[_HEADER], node.schema.get("type")
    steps = node.path.split("/")[2:]
    # /inputSchema/properties/filter/properties/region: every second step is `properties`
    if not steps or len(steps) % 2 or set(steps[::2]) != {"properties"}:
        return "cannot be reached from the root by properties alone"
    if not isinstance(name, str) or not _PATTERNS.field_name.fullmatch(name):
        return f"{_quoted(name)} cannot be part of an HTTP header's name"
    if not isinstance(kind, str) or kind not in _words("mirrored_types"):
        return f"is on type {_quoted(kind)}, and only string, integer and boolean can be mirrored"
    return f"{name!r} names the same header as another one" if name.lower() in used_names else None


@rule("TDQ262", severity=Severity.ERROR, source="MCP 2026-07-28, Overview, icons")
def refused_icon(measured: Measured) -> Iterator[Hit]:
    """An icon has no address, or one that clients refuse; for an icon of the wrong type they refuse the whole list."""
    for hit in _refused_icons(measured.catalog.server_info, None):
        yield hit._replace(path=f"/serverInfo{hit.path}")
    for part in _parts(measured):
        yield from _refused_icons(part.raw, part)


def _refused_icons(raw: object, part: Tool | Resource | ListedPrompt | None) -> Iterator[Hit]:
    fix = 'give each icon a src with https: or data:, such as {"src": "https://…/icon.png", "sizes": ["48x48"]}'
    icons = raw.get("icons") if isinstance(raw, Mapping) else None
    if icons is None:
        return
    if not isinstance(icons, Sequence) or isinstance(icons, str):
        yield Hit("/icons", "icons is not an array", fix, part=part)
        return
    for place, icon in enumerate(icons):
        path = f"/icons/{place}"
        if not isinstance(icon, Mapping):
            yield Hit(path, "the icon is not an object", fix, part=part)
            continue
        yield from (Hit(f"{path}/{key}", problem, fix, part=part) for key, problem in _malformed_fields(icon))
        source = icon.get("src")
        scheme = source.partition(":")[0].lower() if isinstance(source, str) else None
        if isinstance(source, str) and (":" not in source or scheme not in _words("safe_schemes")):
            problem = f"clients show icons from https: and data: only, not {_quoted(source)}"
            yield Hit(f"{path}/src", problem, fix, Severity.WARNING if scheme == "http" else None, part)


def _malformed_fields(icon: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not isinstance(icon.get("src"), str):
        yield "src", "the icon has no src" if icon.get("src") is None else "src is not a string"
    if not isinstance(icon.get("mimeType", ""), str | None):
        yield "mimeType", "mimeType is not a string"
    sizes, theme = icon.get("sizes"), icon.get("theme")
    if sizes is not None and not (isinstance(sizes, list) and all(isinstance(size, str) for size in sizes)):
        yield "sizes", 'sizes is not an array of strings such as "48x48"'
    if theme is not None and (not isinstance(theme, str) or theme not in _words("themes")):
        yield "theme", f"theme is {_quoted(theme)}, not light or dark"


@rule("TDQ263", severity=Severity.ERROR, source="MCP 2026-07-28, Overview, _meta")
def malformed_meta(measured: Measured) -> Iterator[Hit]:
    """`_meta` is not an object, or has a key that is not in the form that MCP asks for."""
    fix = "begin and end the name with a letter or digit, after a prefix of your own, such as com.example/name"
    for part in _parts(measured):
        meta = part.raw.get("_meta") if isinstance(part.raw, Mapping) else None
        if meta is not None and not isinstance(meta, Mapping):
            yield Hit("/_meta", "_meta is not an object", fix, part=part)
            continue
        for key in meta or ():
            if not _PATTERNS.meta_key.fullmatch(key):
                problem = f"the key {_quoted(key)} does not have the form prefix/name"
                shared = f"have the key {_quoted(key)} in _meta, which does not have the form prefix/name"
                yield Hit(f"/_meta/{escape_step(key)}", problem, fix, Severity.INFO, part, shared=shared)


@rule("TDQ264", severity=Severity.ERROR, source="MCP Apps 2026-01-26, Resource Discovery")
def broken_app_link(measured: Measured) -> Iterator[Hit]:
    """The tool's entry for MCP Apps leads to nothing that a host can show, or hides the tool."""
    fix = f"link a ui:// resource of type {APP_TYPE} in _meta.ui.resourceUri"
    for tool in measured.catalog.tools:
        for path, problem, is_mild in _app_problems(tool, measured.catalog):
            yield Hit(f"/_meta/{path}", problem, fix, Severity.WARNING if is_mild else None, tool)


def _app_problems(tool: Tool, catalog: Catalog) -> Iterator[tuple[str, str, bool]]:
    """Yield path and problem of what keeps a host from showing the tool's app; true for what only some hosts mind."""
    meta = tool.raw.get("_meta") if isinstance(tool.raw, Mapping) else None
    if not isinstance(meta, Mapping):
        return
    app = meta.get("ui")
    if not isinstance(app, Mapping):
        if "ui/resourceUri" in meta:
            yield "ui~1resourceUri", "ui/resourceUri is the deprecated form of ui.resourceUri", True
        return
    path, uri, visibility = "ui/resourceUri", app.get("resourceUri"), app.get("visibility")
    if uri is not None and not (isinstance(uri, str) and uri.startswith("ui://")):
        yield path, f"resourceUri is {_quoted(uri)}, but an app's URI starts with ui://", False
    elif uri is not None and catalog.capabilities is not None and "resources" not in catalog.capabilities:
        yield path, f"{_quoted(uri)} cannot be read: the server does not declare resources", False
    else:
        same = (item for item in catalog.resources or () if item.uri == uri is not None and not item.is_template)
        types = (item.mime_type for item in same)
        if listed := next((kind for kind in types if kind and kind.replace(" ", "").lower() != APP_TYPE), None):
            yield path, f"{_quoted(uri)} is listed with type {_quoted(listed)}, but hosts show {APP_TYPE}", True
    is_list = isinstance(visibility, list)
    if visibility is not None and not (is_list and _words("app_visibility").issuperset(map(str, visibility))):
        yield "ui/visibility", 'visibility is not a list of "model" and "app"', False


@rule("TDQ265", severity=Severity.ERROR, source="MCP 2025-11-25, Tasks, Tool-Level Negotiation")
def unusable_task_support(measured: Measured) -> Iterator[Hit]:
    """`execution.taskSupport` has a value that clients refuse, or requires tasks of a server that has none."""
    fix = "write forbidden, optional or required, and declare tasks.requests.tools.call for the last two"
    catalog, path = measured.catalog, "/execution/taskSupport"
    declared: object = catalog.capabilities
    for key in ("tasks", "requests", "tools", "call"):
        declared = declared.get(key) if isinstance(declared, Mapping) else None
    for tool in catalog.tools:
        execution = tool.raw.get("execution") if isinstance(tool.raw, Mapping) else None
        if execution is not None and not isinstance(execution, Mapping):
            yield Hit("/execution", "execution is not an object", fix, part=tool)
            continue
        support = (execution or {}).get("taskSupport")
        if support is not None and (not isinstance(support, str) or support not in _words("task_support")):
            problem = f"taskSupport is {_quoted(support)}, not forbidden, optional or required"
            yield Hit(path, problem, fix, part=tool)
        elif support == "required" and catalog.protocol_version == "2025-11-25" and declared is None:
            problem = "taskSupport is required, and the server declares no tasks for tools/call"
            yield Hit(path, problem, fix, part=tool)


@rule("TDQ266", severity=Severity.ERROR, source="MCP 2026-07-28, Caching")
def unfit_caching(measured: Measured) -> Iterator[Hit]:
    """An answer of revision 2026-07-28 lacks `ttlMs` or `cacheScope`, or has a value that clients refuse."""
    fix = "send both with each list, such as ttlMs 300000, and cacheScope public if everybody gets the same list"
    catalog = measured.catalog
    is_modern = (catalog.protocol_version or "") >= MODERN
    for method, hints in (catalog.caching or {}).items():
        missing = [key for key in CACHING_HINTS if key not in hints]
        path = f"/caching/{escape_step(method)}"
        if is_modern and missing:
            yield Hit(path, f"the answer to {method} has no {' and no '.join(missing)}", fix)
        lifetime, scope = hints.get("ttlMs", 0), hints.get("cacheScope", "private")
        if type_of(lifetime) != "integer" or lifetime < 0:
            problem = f"ttlMs of {method} is {_quoted(lifetime)}, not a whole number of at least 0"
            yield Hit(f"{path}/ttlMs", problem, fix)
        if not isinstance(scope, str) or scope not in _words("cache_scopes"):
            yield Hit(f"{path}/cacheScope", f"cacheScope of {method} is {_quoted(scope)}, not public or private", fix)


@rule(
    "TDQ268",
    severity=Severity.INFO,
    persona=Persona.AUDITOR,
    dimension="parameter_semantics",
    source="MCP 2026-07-28, Tools, Tool",
    variants=(undeclared_properties,),
)
def open_parameters(subject: Subject) -> Iterator[Hit]:
    """The tool has no parameters, but its schema accepts any, so an agent that invents one gets no error."""
    schema = subject.tool.input_schema
    if schema is None or schema.get("type") != "object" or schema.get("properties") or schema.get("required"):
        return
    if subject.tool.is_mcp and _words("open_keywords").issuperset(schema):
        yield Hit(
            "/inputSchema",
            "the tool has no parameters, but its schema accepts any",
            'add "additionalProperties": false, the form that MCP recommends',
        )


def _parts(measured: Measured) -> Iterator[Tool | Resource | ListedPrompt]:
    catalog = measured.catalog
    yield from catalog.tools
    yield from catalog.resources or ()
    yield from catalog.prompts or ()


def _quoted(value: object) -> str:
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:79]}…"


@rule(
    "TDQ513",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    dimension="usage_guidelines",
    source="Faghih et al., arXiv 2505.18135: such cues win 82% of choices between equal tools, the plain text 7%",
)
def steered_choice(measured: Measured) -> Iterator[Hit]:
    """A text orders the agent to choose the tool, praises it above all others, or makes the agent ask for a secret."""
    fix = "say for which requests it is the right tool, and for which it is not; keep secrets in the configuration"
    sentences = sentences_of(measured.catalog.instructions or "")
    for steering in find_steering(sentences, list(map(words_of, sentences)), measured.names):
        yield Hit("/instructions", f"a sentence {steering.effect}: {steering.quote!r}", fix)
    for subject in measured.subjects:
        texts = [("/description", steering) for steering in subject.steering]
        texts += [
            (remark.path, steering) for remark, steering in find_steered_parameters(subject.remarks, subject.mentions)
        ]
        for path, steering in texts:
            yield Hit(path, f"a sentence {steering.effect}: {steering.quote!r}", fix, part=subject.tool)
        if secret := find_secret(subject.prose, subject.remarks, subject.input_shape):
            name, quote = secret
            yield Hit(
                f"/inputSchema/properties/{escape_step(name)}",
                f"{name!r} takes a secret that the text has in the environment: {quote!r}",
                "take it from the environment alone, so that no agent asks for it",
                part=subject.tool,
                shared="have a parameter for a secret that the text has in the environment",
            )


def _threats(measured: Measured, *, words: Mapping[str, Any]) -> Iterator[Hit]:
    mild = Severity(words.get("mild", Severity.WARNING))
    for part, threat in measured.threats:
        if threat.kind is ThreatKind[words["kind"].upper()]:
            encoding = f" ({threat.encoding})" if threat.encoding else ""
            # everything unprintable is escaped
            literal = ascii(threat.quote) if threat.kind in _ESCAPED else repr(threat.quote)
            problem = f"the text {threat.kind}{encoding}: {literal}"
            yield Hit(threat.path, problem, words["fix"], mild if threat.is_mild else None, part)


THREATS = read_family("threats", _threats)


_ESCAPED = frozenset({ThreatKind.UNSEEN, ThreatKind.LOOKALIKE, ThreatKind.TERMINAL})
"""Where the characters are the point, and letters that look alike would say nothing."""

_SOURCE = "MCP specification, ToolAnnotations"
_hint_words = partial(words_from, "hints")

_MEANINGS = {
    "readOnlyHint": "true if the tool changes nothing, else false",
    "destructiveHint": "true if a call can delete, overwrite or send what cannot be taken back, else false",
    "idempotentHint": "true if the same call again changes nothing more, else false",
    "openWorldHint": "true if the tool reaches systems outside the server's own, else false",
}


@rule("TDQ227", severity=Severity.WARNING, dimension="behavioral_transparency", source=_SOURCE)
def contradictory_hints(measured: Measured) -> Iterator[Hit]:
    """Two hints cannot both be true, of one tool or of two whose descriptions begin with the same sentence."""
    twins: dict[tuple[str, ...], list[Subject]] = {}
    for subject in measured.subjects:
        hints, lead = subject.signals, subject.prose.spoken[0] if subject.prose.spoken else ()
        if hints.read_only and hints.destructive:
            yield Hit(
                "/annotations/destructiveHint",
                "readOnlyHint and destructiveHint are both true",
                "set destructiveHint to false, or readOnlyHint if the tool writes",
                part=subject.tool,
            )
        if hints.has_hints and len(lead) >= MIN_LEAD:
            twins.setdefault(tuple(lead), []).append(subject)
    for alike in twins.values():
        yield from _torn_twins([(own, own.signals.read_only) for own in alike], "readOnlyHint", harmless=True)
        changing = [(own, own.signals.destructive) for own in alike if not own.signals.read_only]
        yield from _torn_twins(changing, "destructiveHint", harmless=False)


MIN_LEAD = 4
"""Words of a sentence that two tools do not share by chance."""


def _torn_twins(alike: Sequence[tuple[Subject, bool | None]], hint: str, *, harmless: bool) -> Iterator[Hit]:
    other = next((subject.tool.name for subject, value in alike if value is (not harmless)), None)
    for subject, value in alike:
        if other is not None and value is harmless:
            sentence = f"{hint} is {str(harmless).lower()}, but {str(not harmless).lower()} on {other!r}"
            problem = f"{sentence}, which begins with the same sentence"
            yield Hit(f"/annotations/{hint}", problem, "correct whichever is wrong", part=subject.tool)


@rule(
    "TDQ228",
    aliases=("contradicted-annotation",),
    severity=Severity.WARNING,
    dimension="behavioral_transparency",
    source=_SOURCE,
)
def writing_read_only_tool(subject: Subject) -> Iterator[Hit]:
    """The name, the text or a parameter says that the tool writes, but the annotations say that it only reads."""
    word = subject.prose.contradiction
    if not subject.signals.read_only or not (word or subject.effect_claims):
        return
    claim = min(subject.effect_claims, key=lambda claim: claim.is_weak, default=None)
    evidence, is_weak = (claim.evidence, claim.is_weak) if claim else (f"the description says {word!r}", False)
    yield Hit(
        "/annotations/readOnlyHint",
        f"readOnlyHint is true, but {evidence}",
        "correct whichever is wrong",
        Severity.INFO if is_weak else None,
    )


@rule(
    "TDQ240",
    severity=Severity.WARNING,
    dimension="behavioral_transparency",
    source=_SOURCE,
)
def harmless_deletion(subject: Subject) -> Iterator[Hit]:
    """The tool deletes or overwrites, but destructiveHint says that it only adds."""
    prose, is_denied = subject.prose, subject.signals.destructive is False and not subject.signals.read_only
    claim = next((claim for claim in subject.effect_claims if claim.is_destroying), None) if is_denied else None
    if claim:
        yield Hit(
            "/annotations/destructiveHint",
            f"destructiveHint is false, but {claim.evidence}",
            "set it to true, so that clients ask before the call",
        )
        return
    # "Stage a schema change" has no verb of change
    is_overt = prose.verb in OVERT_MUTATIONS or (prose.opens_with_verb and prose.verb in _hint_words("editing"))
    is_update = prose.effect is prose.name_effect is Effect.UPDATE and is_overt
    is_clearing = prose.opens_with_verb and prose.verb in deleting_verbs() and "from" not in prose.spoken[0]
    if is_denied and (is_update or is_clearing):
        yield Hit(
            "/annotations/destructiveHint",
            f"destructiveHint is false, which means that the tool only adds, but the description says {prose.verb!r}",
            "set it to true, or say in the description that the earlier values are kept",
            Severity.INFO,
        )


@rule(
    "TDQ241",
    severity=Severity.INFO,
    confidence=Confidence.MEDIUM,
    dimension="behavioral_transparency",
    source=_SOURCE,
    weighs=("/description",),
)
def idempotent_addition(subject: Subject) -> Iterator[Hit]:
    """Each call adds or sends one more, but idempotentHint says that a second call changes nothing."""
    is_claimed = (subject.tool.annotations or {}).get("idempotentHint") is True and not subject.signals.read_only
    parts, prose = name_parts(subject.tool.name), subject.prose
    # `log_entry`, "Appends a line to the log."
    is_told = prose.effect is prose.name_effect is Effect.CREATE and _hint_words("either").isdisjoint(prose.vocabulary)
    words = (*parts, prose.verb) if is_told else parts
    word = next((word for word in words if word in _hint_words("adding")), None) if is_claimed else None
    # `get_post`, "Get a post": the post is a thing
    is_reading = prose.effect is prose.name_effect is Effect.READ
    if word is None or is_reading or (word not in (parts[0], parts[-1]) and prose.effect is not Effect.CREATE):
        return
    # `create_or_update_user`, or a text that says that a second call changes nothing
    if _hint_words("either").isdisjoint(parts) and _hint_words("repeatable").isdisjoint(prose.words):
        speaker = repr(subject.tool.name) if word in parts else "the description"
        yield Hit(
            "/annotations/idempotentHint",
            f"idempotentHint is true, but {speaker} says {word!r}",
            "set it to false, or say in the description why a second call changes nothing",
        )


@rule(
    "TDQ242",
    severity=Severity.INFO,
    confidence=Confidence.MEDIUM,
    dimension="behavioral_transparency",
    source=_SOURCE,
)
def unhinted_reading(measured: Measured) -> Iterator[Hit]:
    """The tool only reads, but does not declare readOnlyHint, so clients treat it as one that writes."""
    for subject in measured.subjects:
        prose, code = subject.prose, measured.code and measured.code.find(subject.tool.name)
        if not prose.effect is prose.name_effect is Effect.READ or (code and code.read_only is False):
            continue
        # "Search for text and replace all" and "Resolve a thread" open with a verb of reading
        is_mixed = prose.verb in _hint_words("ambiguous") or reads_and_writes(prose)
        is_reading = prose.opens_with_verb and not is_mixed
        is_silent = "readOnlyHint" not in (subject.tool.annotations or {})
        # "Downloads images", with a `local_path` to save them
        if is_reading and is_silent and subject.signals.has_hints and not subject.effect_claims:
            yield Hit(
                "/annotations",
                "the tool only reads, but does not declare readOnlyHint, which defaults to false",
                "set readOnlyHint to true",
                part=subject.tool,
            )


@rule(
    "TDQ720",
    severity=Severity.INFO,
    persona=Persona.REVIEWER,
    dimension="behavioral_transparency",
    source="OpenAI, Apps SDK, app submission guidelines",
)
def undeclared_app_hint(subject: Subject) -> Iterator[Hit]:
    """A read-only, destructive or open-world hint is not declared; an error with `--profile openai-apps`."""
    yield from _undeclared(subject, "readOnlyHint", "destructiveHint", "openWorldHint")


@rule(
    "TDQ721",
    severity=Severity.INFO,
    persona=Persona.REVIEWER,
    dimension="behavioral_transparency",
    source="Anthropic, Connectors Directory: support article 12922490 and its submission checklist",
)
def undeclared_connector_annotation(subject: Subject) -> Iterator[Hit]:
    """A title or hint is not declared; an error with `--profile anthropic-directory`."""
    annotations = subject.tool.annotations
    title = subject.tool.title or (annotations.get("title") if isinstance(annotations, Mapping) else None)
    if not title:
        yield Hit("/annotations/title", "the tool has no title", "add a title in words for people")
    writes = () if subject.signals.read_only else ("destructiveHint", "idempotentHint")
    yield from _undeclared(subject, "readOnlyHint", *writes, "openWorldHint")


def _undeclared(subject: Subject, *names: str) -> Iterator[Hit]:
    for name in names:
        if not isinstance((subject.tool.annotations or {}).get(name), bool):
            yield Hit(f"/annotations/{name}", f"{name} is not declared", f"declare {name}: {_MEANINGS[name]}")
