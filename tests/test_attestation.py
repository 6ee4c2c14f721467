"""Attested scores: who said what of which catalog, and what is refused."""

import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from definitions import tool

from tdqs_mcp.app.judging import score_offline
from tdqs_mcp.sources.files import read_file

TOOLS = [tool("list_loans", "Lists the loans of one account, newest first."), tool("get_loan", "Returns one loan.")]


@pytest.fixture
def keys(write):
    """A private and a public key as PEM files, by name."""

    def make(name):
        private = Ed25519PrivateKey.generate()
        public = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        secret = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return write(f"{name}.pem", secret), write(f"{name}.pub", public)

    return make


@pytest.fixture
def attested(command, write, keys, tmp_path):
    """The catalog, its attestation, and the keys."""
    pytest.importorskip("securesystemslib", reason="the extra attest is not installed")
    catalog, (private, public) = write("loans.json", json.dumps({"tools": TOOLS})), keys("ours")
    proof = tmp_path / "proof.json"
    done = command("lock", catalog, "--lock", tmp_path / "tdqs.lock", "--attest", proof, "--key", private)
    assert done.returncode == 0, done.stderr
    return catalog, proof, public


def test_a_key_that_cannot_sign_leaves_no_lock_behind(command, write, tmp_path):
    pytest.importorskip("securesystemslib", reason="the extra attest is not installed")
    catalog, lock = write("loans.json", json.dumps({"tools": TOOLS})), tmp_path / "tdqs.lock"
    key = write("no.pem", "no key")
    done = command("lock", catalog, "--lock", lock, "--attest", tmp_path / "proof.json", "--key", key)
    assert (done.returncode, lock.exists()) == (2, False), done.stderr


def check(command, tmp_path, catalog, proof, public):
    options = ("--lock", tmp_path / "tdqs.lock", "--attest", proof, "--key", public)
    return command("lock", "--check", catalog, *options)


def test_an_attestation_says_who_gave_which_score(command, attested, tmp_path, write):
    catalog, proof, public = attested
    done = check(command, tmp_path, *attested)
    assert done.returncode == 0, done.stderr
    score = score_offline(read_file(catalog))
    assert f"{score.rollup.overall / 10} {score.rollup.overall_tier} by tdqs-mcp" in done.stderr.decode()
    envelope = json.loads(proof.read_bytes())
    assert envelope["payloadType"] == "application/vnd.in-toto+json"
    statement = json.loads(base64.b64decode(envelope["payload"]))
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert len(statement["subject"][0]["digest"]["sha256"]) == 64
    predicate = statement["predicate"]
    assert [entry["tdqs"] for entry in predicate["tools"]] == [each.tdqs / 10 for each in score.tools]
    assert predicate["judge"]["calibration"] == score.judge.calibration
    reordered = write("loans.json", json.dumps({"tools": [dict(reversed(each.items())) for each in reversed(TOOLS)]}))
    assert check(command, tmp_path, reordered, proof, public).returncode == 0


def tampered(proof):
    envelope = json.loads(proof.read_bytes())
    statement = json.loads(base64.b64decode(envelope["payload"]))
    statement["predicate"]["overallScore"] = 5.0
    envelope["payload"] = base64.b64encode(json.dumps(statement).encode()).decode()
    return json.dumps(envelope)


def test_what_is_not_so_attested_is_refused_each_with_its_sentence(command, attested, tmp_path, write, keys):
    catalog, proof, public = attested
    changed = [{**TOOLS[0], "description": "Deletes everything."}, TOOLS[1]]
    other, bare = write("other.json", catalog.read_bytes().decode()), tmp_path / "bare.json"
    (tmp_path / "later").mkdir()
    later = tmp_path / "later" / catalog.name
    later.write_text(json.dumps({"tools": changed}))
    other.write_text(json.dumps({"tools": changed}))
    assert command("score", catalog, "--attest", bare).returncode == 0
    for content, key, words in (
        ((catalog, write("tampered.json", tampered(proof))), public, "has been changed since it was signed"),
        ((catalog, proof), keys("theirs")[1], "is signed by another key"),
        ((later, proof), public, "attests other definitions: 'loans' has changed since"),
        ((other, proof), public, "is for another server: it attests loans, not 'other'"),
        ((catalog, bare), public, "is no signed attestation"),
        ((catalog, write("nothing.json", "[]")), public, "is no signed attestation"),
        ((catalog, proof), write("no.pub", "nothing"), "is no public key"),
    ):
        done = check(command, tmp_path, *content, key)
        assert (done.returncode, words in done.stderr.decode()) == (2, True), done.stderr


def test_a_statement_without_a_key_is_for_a_forge_to_sign(command, write, tmp_path):
    catalog, bare = write("loans.json", json.dumps({"tools": TOOLS})), tmp_path / "bare.json"
    assert command("score", catalog, "--attest", bare).returncode == 0
    assert json.loads(bare.read_bytes())["predicate"]["findings"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["score", "--key", "{key}"], "--key belongs to --attest"),
        (["score", "--attest", "x", "--rubric", "playground"], "--attest is about the whole score"),
        (["lock", "{key}", "--attest", "x"], "--attest writes about one server"),
        (["lock", "--check", "--attest", "x"], "--check --attest needs --key, the public key"),
    ],
)
def test_options_that_mean_nothing_together_are_refused(command, write, options, words):
    catalog, key = write("loans.json", json.dumps({"tools": TOOLS})), str(write("k.pem", "x"))
    done = command(options[0], catalog, *(option.replace("{key}", key) for option in options[1:]))
    assert (done.returncode, words in done.stderr.decode()) == (2, True), done.stderr
