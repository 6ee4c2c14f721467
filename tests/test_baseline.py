"""Baselines: only new findings count, whatever moved."""

import json
from dataclasses import replace

import pytest
from definitions import flat, tool

from tdqs_mcp.app import linting
from tdqs_mcp.gate.known_findings import compare_to_baseline, renew

SILENT = tool("silent", None)
POOR = tool("list_orders", "Lists orders.", flat(3))


@pytest.fixture
def lint(command, write, tmp_path):
    """Lint definitions against a baseline; gives back the process and its JSON."""

    def run(definitions, *flags, file="shop.json"):
        write(file, definitions)
        done = command("lint", tmp_path / file, "--baseline", tmp_path / "base.json", *flags, "--format", "json")
        return done, json.loads(done.stdout) if done.stdout else None

    return run


def test_a_written_baseline_lets_only_new_findings_through(lint, tmp_path):
    run, document = lint([SILENT, POOR], "--write-baseline")
    assert (run.returncode, document["findings"]) == (0, [])
    entries = json.loads((tmp_path / "base.json").read_bytes())["findings"]
    assert len(entries) == document["baseline"]["known"] > 4
    assert run.stderr.decode().startswith(f"{len(entries)} findings in ")
    run, document = lint([SILENT, POOR])
    assert (run.returncode, document["findings"], document["baseline"]["fixed"]) == (0, [], [])
    run, document = lint([SILENT, POOR, SILENT | {"name": "mute"}])
    assert run.returncode == 1
    assert {each["subject"]["name"] for each in document["findings"]} == {"mute"}


def test_findings_are_known_again_in_another_order_and_with_other_counts(lint):
    text = {"type": "string"}
    two = {"type": "object", "properties": {"a": text, "b": text}, "required": ["a"]}
    three = {"type": "object", "properties": {"a": text, "b": text, "c": text}, "required": ["a"]}
    lint([POOR | {"inputSchema": two}, SILENT], "--write-baseline")
    run, document = lint([SILENT, POOR | {"inputSchema": three}])
    assert (run.returncode, document["findings"], document["baseline"]["fixed"]) == (0, [], [])


def test_what_one_more_tool_shares_is_new_and_what_one_less_does_not(lint):
    lint([SILENT, POOR], "--write-baseline")
    assert lint([POOR])[1]["findings"] == []
    _, document = lint([SILENT, POOR, POOR | {"name": "list_refunds"}])
    assert ("TDQ106", "list_refunds") in {(each["rule"], each["subject"]["name"]) for each in document["findings"]}


def test_a_second_finding_like_a_known_one_is_new(lint):
    lint([SILENT], "--write-baseline")
    _, document = lint([SILENT, SILENT])
    assert [each["rule"] for each in document["findings"]].count("TDQ102") == 1


def test_what_is_gone_is_reported_as_fixed_and_pruned(lint, command, tmp_path):
    lint([SILENT, POOR], "--write-baseline")
    _, document = lint([POOR])
    gone = document["baseline"]["fixed"]
    assert {each["part"] for each in gone} >= {"silent"}
    assert ("TDQ102", "silent", "/description") in {(each["rule"], each["part"], each["path"]) for each in gone}
    text = command("lint", tmp_path / "shop.json", "--baseline", tmp_path / "base.json").stdout.decode()
    assert f"{len(gone)} findings of the baseline fixed: --write-baseline prunes the file" in text
    assert "found nothing new in 1 tool" in text
    lint([POOR], "--write-baseline")
    assert lint([POOR])[1]["baseline"]["fixed"] == []


def test_other_servers_and_rules_that_did_not_run_are_neither_fixed_nor_forgotten(lint, tmp_path):
    lint([SILENT], "--write-baseline")
    lint([POOR], "--write-baseline", file="other.json")
    lint([SILENT], "--write-baseline", "--select", "TDQ106")
    for file, definitions in (("shop.json", [SILENT]), ("other.json", [POOR])):
        _, document = lint(definitions, file=file)
        assert (document["findings"], document["baseline"]["fixed"]) == ([], [])
    _, document = lint([], "--select", "TDQ106")
    assert {each["rule"] for each in document["baseline"]["fixed"]} == {"TDQ106"}


def test_two_files_of_one_name_share_a_baseline(command, write, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write(f"{folder}/tools.json", [SILENT | {"name": folder}])
    words = ["lint", "a/tools.json", "b/tools.json", "--baseline", "base.json", "--format", "json"]
    command(*words, "--write-baseline", cwd=tmp_path)
    documents = json.loads(command(*words, cwd=tmp_path).stdout)
    assert [(each["findings"], each["baseline"]["fixed"]) for each in documents] == [([], []), ([], [])]


def test_a_missing_baseline_is_no_empty_one(lint, tmp_path):
    run, document = lint([SILENT])
    assert (run.returncode, document) == (2, None)
    assert b"add --write-baseline to write it" in run.stderr
    assert not (tmp_path / "base.json").exists()


def test_writing_needs_a_file(command, write):
    run = command("lint", write("x.json", [SILENT]), "--write-baseline")
    assert (run.returncode, b"needs --baseline FILE" in run.stderr) == (2, True)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "{}", '{"version": 1}', '{"version": 2, "findings": []}', '{"version": 1, "findings": [{}]}'],
)
@pytest.mark.parametrize("flags", [[], ["--write-baseline"]])
def test_a_file_that_is_no_baseline_is_refused_and_left_alone(lint, write, tmp_path, content, flags):
    write("base.json", content)
    run, document = lint([SILENT], *flags)
    assert (run.returncode, document, run.stderr.count(b"\n")) == (2, None, 1)
    assert (tmp_path / "base.json").read_text(encoding="utf-8") == content


def test_an_entry_that_is_not_whole_is_named_by_its_number(lint, write, tmp_path):
    lint([SILENT], "--write-baseline")
    document = json.loads((tmp_path / "base.json").read_bytes())
    del document["findings"][1]["message"]
    write("base.json", json.dumps(document))
    run, _ = lint([SILENT])
    assert (run.returncode, b"finding 2 of " in run.stderr) == (2, True)


def test_of_equal_findings_each_is_counted(lint):
    _, document = lint([SILENT, SILENT], "--write-baseline")
    count = document["baseline"]["known"]
    _, document = lint([SILENT, POOR])
    assert document["baseline"]["known"] + len(document["baseline"]["fixed"]) == count
    _, document = lint([POOR])
    assert [each["rule"] for each in document["baseline"]["fixed"]].count("TDQ102") == 2


@pytest.mark.parametrize(("rule", "is_known"), [("TDQ103", True), ("TDQ510", False)])
def test_other_words_at_the_same_place_are_known_but_not_where_they_are_an_attack(catalog, rule, is_known):
    report = linting.lint(catalog(SILENT))
    before = replace(report, findings=(replace(report.findings[0], rule=rule, message="it says 'one'"),))
    after = replace(before, findings=(replace(before.findings[0], message="it says 'two'"),))
    known = renew((), [before], rules={rule})
    assert [bool(each.findings) for each in compare_to_baseline([before, after], known, rules={rule})] == [False, True]
    assert bool(compare_to_baseline([after], known, rules={rule})[0].findings) != is_known


def test_a_finding_that_got_worse_is_still_the_known_one(lint, write, tmp_path):
    lint([SILENT], "--write-baseline")
    write("tdqs.toml", '[severity]\nTDQ106 = "error"')
    assert lint([SILENT])[1]["findings"] == []
