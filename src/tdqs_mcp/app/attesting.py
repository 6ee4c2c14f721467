"""Attestations of scores as in-toto statements: signed with a private key, checked with its public one."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from tdqs_mcp.canonical import canonical_json
from tdqs_mcp.errors import InputError, UnmeasurableError
from tdqs_mcp.gate.definition_lock import normalized_or_none, parts_of
from tdqs_mcp.json_text import parse_json
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.json_values import document
from tdqs_mcp.results.contract import generated_by
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.tool_code import CodeReport
from tdqs_mcp.sources.files import read_bytes, write_bytes

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
