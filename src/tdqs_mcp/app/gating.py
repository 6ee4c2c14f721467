"""Gates: a server held to its entry in `tdqs.lock`, to a suite, and to the signed attestation of its score."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from tdqs_mcp.app.catalogs import load
from tdqs_mcp.app.judging import score_measured
from tdqs_mcp.app.linting import read_own_code
from tdqs_mcp.canonical import canonical_json
from tdqs_mcp.errors import InputError, TdqsError, UnmeasurableError
from tdqs_mcp.facts.schema.conformance import find_fault
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.gate import definition_lock, suite
from tdqs_mcp.gate.definition_lock import lock_server, normalized_or_none, parts_of
from tdqs_mcp.json_text import parse_json
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.json_values import document, read_document
from tdqs_mcp.results.checks import GateRow
from tdqs_mcp.results.comparisons import LOCK_VERSION, DefinitionLock, Impact, LockReport, LockState
from tdqs_mcp.results.contract import generated_by, schema
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.tool_code import CodeReport
from tdqs_mcp.sources.files import read_bytes, read_text, write_bytes
from tdqs_mcp.sources.locator import LiveOptions

EMPTY_LOCK = DefinitionLock(servers=())


def read_lock(path: Path) -> DefinitionLock:
    """The lock in a file. Raises InputError for one that is broken, edited, or of a newer version."""
    origin = repr(str(path))
    if not path.exists():
        raise InputError(f"there is no lock {origin}; write one with tdqs-mcp lock LOCATOR")
    parsed = parse_json(read_bytes(path), origin=origin)
    content = parsed if isinstance(parsed, Mapping) else {}
    version = content.get("version")
    if isinstance(version, int) and version > LOCK_VERSION:
        raise InputError(
            f"{origin} is a lock of version {version}, this tdqs-mcp reads {LOCK_VERSION}; install a newer tdqs-mcp"
        )
    fault = find_fault(schema(DefinitionLock), parsed)
    if fault is not None:
        place = "".join(f"/{step}" for step in fault.path)
        raise InputError(
            f"{origin} is not a lock, at {place or 'its root'}: {fault.message[:200]}; restore it, or delete it "
            "and run tdqs-mcp lock"
        )
    lock = read_document(DefinitionLock, content)
    definition_lock.check_lock(lock, origin)
    return lock


def verify(
    catalog: Catalog, lock: DefinitionLock, *, again: Catalog | None = None, code: CodeReport | None = None
) -> LockReport:
    """Return what has changed since the lock was written, by what it means; `again` is a second listing of the server.

    Nothing is scored: a new calibration is no change. Raises InputError for a server that the lock does not have; a
    listing under another name, such as a renamed file, is its only one unless the server itself says otherwise.
    """
    entry = definition_lock.find_entry(lock, catalog) or definition_lock.find_renamed(lock, catalog)
    if entry is None:
        names = ", ".join(repr(server.name) for server in lock.servers) or "no server"
        raise InputError(f"the lock does not have {catalog.server!r}, it has {names}; add it with tdqs-mcp lock")
    return definition_lock.verify(entry, catalog, again, code=code)


async def lock(
    catalog: Catalog,
    present: DefinitionLock = EMPTY_LOCK,
    *,
    again: Catalog | None = None,
    accept: Sequence[str] | None = (),
    allow: Sequence[Impact] | None = None,
    code: CodeReport | None = None,
) -> tuple[DefinitionLock, LockReport]:
    """The lock with this server, and what has changed of it if it was there already.

    Then only the changes of the parts in `accept` are taken, all for None; `allow` replaces the impacts that the entry
    lets pass. Other servers stay. Raises InputError for an incomplete listing, and UnknownIdError.
    """
    if catalog.incomplete:
        raise InputError(f"an incomplete list of tools cannot be locked: {catalog.incomplete}")
    measured = replace(measure(catalog), code=code)
    scored = await score_measured(measured, judge=Offline())
    now = lock_server(measured, scored, allow=allow or ())
    entry = definition_lock.find_entry(present, catalog)
    kept_servers = [
        server
        for server in present.servers
        if entry is None or (server.name, server.source) != (entry.name, entry.source)
    ]
    if entry is None:
        if accept:
            raise InputError(f"the lock does not have {catalog.server!r}: nothing to accept; add it without --accept")
        report = replace(definition_lock.verify(now, catalog, again), state=LockState.NEW)
    else:
        entry = entry if allow is None else replace(entry, allow=now.allow)
        report = definition_lock.verify(entry, catalog, again, code=code)
        now, report = definition_lock.accept(entry, replace(now, allow=entry.allow), report, accept)
    servers = sorted([*kept_servers, now], key=lambda server: (server.name, server.source or ""))
    return DefinitionLock(servers=tuple(servers)), report


async def run_suite(path: Path, options: LiveOptions | None = None) -> list[GateRow]:
    """A row for each entry of the suite in a YAML file.

    Every server is captured once; if that fails, its rows say why and the others are checked all the same. Raises
    InputError, which says line and key, for a file that is not a suite.
    """
    parsed = suite.parse(read_text(path), origin=repr(str(path)))
    servers = parsed.used_servers.items()
    evidence = {name: await _evidence(name, server, options or LiveOptions()) for name, server in servers}
    return [suite.check(entry, evidence[entry.server]) for entry in parsed.tool_quality]


async def _evidence(name: str, server: suite.Server, options: LiveOptions) -> suite.Evidence | str:
    """The facts and score of a suite's server, or why it could not be captured."""
    try:
        locator, headers, env = server.locate(name, os.environ)
        chosen = replace(
            options, headers=headers, env=env, cwd=server.cwd or options.cwd, timeout=server.timeout or options.timeout
        )
        catalog, code = await load(locator, chosen), read_own_code(locator, chosen.cwd)
    except TdqsError as error:
        return str(error)
    if catalog.incomplete:
        return f"the list of tools is incomplete: {catalog.incomplete}"
    measured = replace(measure(catalog), code=code)
    return suite.Evidence(measured=measured, score=await score_measured(measured, judge=Offline()))


STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:tdqs-mcp:attestation:score:v1"
PAYLOAD = "application/vnd.in-toto+json"


def catalog_digest(catalog: Catalog) -> str:
    """The SHA-256 of what agents see, whatever the order of keys and listings. Raises InputError for too deep JSON."""
    tools = [normalized_or_none(tool.raw) for tool in catalog.tools]
    try:
        texts = sorted(canonical_json(tool) for tool in tools)
        whole = canonical_json({**parts_of(catalog), "tools": texts})
    except UnmeasurableError as error:
        raise InputError(f"{catalog.server!r} cannot be attested: {error}") from error
    if None in tools:
        raise InputError(f"{catalog.server!r} cannot be attested: a tool nests too deep")
    return sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()


def make_statement(catalog: Catalog, score: ServerScore, code: CodeReport | None = None) -> bytes:
    """Return the statement's JSON: the catalog as subject; score, findings, judge and code evidence as predicate."""
    version = f"@{catalog.version}" if catalog.version else ""
    full = document(score)
    members = ("specVersion", "overallScore", "overallTier", "descriptionQualityScore", "coherenceScore", "toolCount")
    tools = [{key: tool[key] for key in ("name", "inputHash", "tdqs", "tier", "flags")} for tool in full["tools"]]
    findings = [
        {"rule": finding.rule, "severity": finding.severity, "message": finding.message} for finding in score.findings
    ]
    evidence = {
        tool.name: [f"{effect.kind} {effect.file}:{effect.line}" for effect in tool.effects]
        for tool in (code.tools if code else ())
    }
    predicate: dict[str, Any] = {
        "generatedBy": generated_by(),
        "judge": {name: value for name, value in asdict(score.judge).items() if value},
        **{key: full.get(key) for key in members},
        "tools": tools,
        "findings": findings,
        **({"code": evidence} if code else {}),
    }
    subject = {"name": f"{catalog.server}{version}", "digest": {"sha256": catalog_digest(catalog)}}
    statement = {"_type": STATEMENT, "subject": [subject], "predicateType": PREDICATE, "predicate": predicate}
    return json.dumps(statement, indent=1).encode()


def write_attestation(
    path: Path, catalog: Catalog, score: ServerScore, *, key: Path | None, code: CodeReport | None = None
) -> None:
    """Write the statement in an envelope signed with a PEM key; without one, the bare statement. Raises InputError."""
    payload = make_statement(catalog, score, code)
    if key is None:
        write_bytes(path, payload + b"\n")
        return
    dsse, signer = _library()
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    try:
        private: Any = load_pem_private_key(read_bytes(key), None)
        envelope: Any = dsse.Envelope(payload, PAYLOAD, {})
        envelope.sign(signer.CryptoSigner(private))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{str(key)!r} is no private key: give PEM without a password (Ed25519, ECDSA, RSA)"
        ) from error
    write_bytes(path, json.dumps(envelope.to_dict(), indent=1).encode() + b"\n")


def check_attestation(path: Path, catalog: Catalog, *, key: Path) -> Mapping[str, Any]:
    """The predicate of an attestation that this public key signed about this catalog. Raises InputError."""
    dsse, signer = _library()
    from cryptography.hazmat.primitives.serialization import load_pem_public_key  # noqa: PLC0415
    from securesystemslib.exceptions import VerificationError  # noqa: PLC0415

    origin = repr(str(path))
    parsed = parse_json(read_bytes(path), origin=origin)
    try:
        envelope: Any = dsse.Envelope.from_dict(parsed)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{origin} is no signed attestation: it has no DSSE envelope") from error
    try:
        public: Any = signer.SSlibKey.from_crypto(load_pem_public_key(read_bytes(key)))
    except ValueError as error:
        raise InputError(f"{str(key)!r} is no public key: give PEM (Ed25519, ECDSA, RSA)") from error
    if public.keyid not in envelope.signatures:
        raise InputError(f"{origin} is signed by another key than {str(key)!r}")
    try:
        envelope.verify([public], 1)
    except VerificationError as error:
        raise InputError(f"{origin} has been changed since it was signed: its signature does not fit") from error
    payload: bytes = envelope.payload
    return _check_statement(payload, catalog, origin=origin)


def _check_statement(payload: bytes, catalog: Catalog, *, origin: str) -> Mapping[str, Any]:
    """The predicate of a statement about this catalog. Raises InputError for another catalog's."""
    statement: Any = parse_json(payload, origin=origin)
    subjects = statement.get("subject") if isinstance(statement, Mapping) else None
    if not isinstance(subjects, list) or statement.get("predicateType") != PREDICATE:
        raise InputError(f"{origin} is no attestation of tdqs-mcp: it says something else")
    digests = [subject["digest"].get("sha256") for subject in subjects if isinstance(subject.get("digest"), Mapping)]
    if catalog_digest(catalog) not in digests:
        names = [str(subject.get("name")) for subject in subjects]
        if any(name.startswith(f"{catalog.server}@") or name == catalog.server for name in names):
            raise InputError(f"{origin} attests other definitions: {catalog.server!r} has changed since")
        raise InputError(f"{origin} is for another server: it attests {', '.join(names)}, not {catalog.server!r}")
    predicate = statement["predicate"]
    return predicate if isinstance(predicate, Mapping) else {}


def _library() -> tuple[Any, Any]:
    """The modules that sign and verify. Raises InputError that names what to install."""
    try:
        from securesystemslib import dsse, signer  # noqa: PLC0415  # an extra
    except ModuleNotFoundError as error:
        raise InputError("signatures need a package: pip install '.[attest]' in a checkout of tdqs-mcp") from error
    return dsse, signer
