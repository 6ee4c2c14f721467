"""The score for people: the table on any width, one tool, what to fix first and what to do next."""

import io
import json
from dataclasses import replace

import pytest
from definitions import FINE, LOOKUP, flat, takes, tool
from rich.console import Console

from tdqs_mcp.app import judging
from tdqs_mcp.report.blocks import as_text
from tdqs_mcp.report.score_report import score_blocks
from tdqs_mcp.scoring.judge_error import likely_overall

LONG = tool("synchronize_all_of_the_warehouse_locations", "Deletes stock.", flat(2), annotations={"readOnlyHint": True})
SILENT = tool("list_orders", None, flat(1))
POOR = [
    tool(f"{verb}_order", f"{verb.title()}s an order of a shop.", flat(2)) for verb in ("create", "update", "cancel")
]


@pytest.fixture
def shown(catalog):
    def show(*tools, width, **options):
        page = io.StringIO()
        blocks = score_blocks(judging.score_offline(catalog(*tools)), **options)
        Console(file=page, width=width, highlight=False).print(as_text(blocks), crop=False)
        return [line.rstrip() for line in page.getvalue().splitlines()]

    return show


@pytest.mark.parametrize("width", [72, 80, 100, 200])
def test_the_table_keeps_all_dimensions_and_flags_on_any_width(shown, width):
    lines = shown(LONG, SILENT, FINE, width=width)
    start = next(place for place, line in enumerate(lines) if line.startswith("tool "))
    table = lines[start : lines.index("", start)]
    assert all(len(line) <= width for line in table)
    assert len(table[0].split()) == 9
    row = next(line.split() for line in table if line.startswith("list_orders"))
    assert row[1:9] == ["1.0", "D", "1", "1", "1", "1", "1", "1"]
    words = " ".join(" ".join(table).split())
    assert "No Description" in words
    assert "Annotation" in words
    assert "Contradiction" in words
    assert "…" not in words


def test_a_tier_at_equal_odds_is_no_likelier_one(catalog):
    scored = judging.score_offline(catalog(POOR[0]))
    [entry] = scored.tools

    def text(**odds):
        tiers = dict.fromkeys(entry.outlook.tiers, 0) | odds
        page = io.StringIO()
        score = replace(scored, tools=(replace(entry, outlook=replace(entry.outlook, tiers=tiers)),))
        Console(file=page, width=110).print(as_text(score_blocks(score)))
        return page.getvalue()

    assert entry.tier == "C"
    assert f"{entry.tdqs / 10} C/B" in text(B=46, C=45)
    assert "C/B: C by its number, B the likelier tier" in text(B=46, C=45)
    assert "C/B" not in text(B=45, C=45)
    assert "likelier" not in text(B=45, C=45)


def test_a_line_about_the_rest_hides_two_rows_at_least(shown):
    many = [tool(f"t{number}", "Does.", flat(1)) for number in range(22)]
    assert any("… and 2 more with higher scores" in line for line in shown(*many, width=110))
    whole = shown(*many[:21], width=110)
    assert {f"t{number}" for number in range(21)} <= {line.split(" ")[0] for line in whole}
    assert not any("more with higher" in line for line in whole)


def test_headings_are_short_only_where_the_long_ones_do_not_fit(shown):
    assert any("contextual" not in line and " complete " in f"{line} " for line in shown(FINE, width=120))
    assert any(line.split()[2:8] == ["pur", "usa", "beh", "par", "con", "com"] for line in shown(LONG, width=80))


def test_fix_first_groups_by_rule_and_names_the_nearest_sibling(shown):
    lines = shown(*POOR, tool("ship_box", "Ships a box.", flat(1)), width=110)
    heads = [line for line in lines if line.startswith(("1. ", "2. "))]
    assert len(heads) == len({line.rpartition("[")[2] for line in heads})
    fixes = "\n".join(lines[lines.index("Fix first") :])
    assert "create_order (" in fixes
    assert "the nearest sibling is update_order" in fixes


def test_fix_first_names_the_parameters(shown):
    undocumented = {"type": "object", "properties": {"sku": {"type": "string"}, "to": {"type": "string"}}}
    told = "Moves stock in a warehouse. Use it when stock lies in the wrong place."
    moves = tool("move_stock", told, undocumented, annotations={"readOnlyHint": False, "destructiveHint": False})
    assert "undocumented: sku, to" in " ".join(shown(moves, width=110))


def test_next_is_a_rewrite_or_a_plan_where_they_help_else_the_page_of_the_rule(shown):
    for width in (200, 40):
        lines = shown(*POOR, width=width, locator="shop.json")
        assert [line for line in lines if line.startswith("Next: ")] == [
            "Next: tdqs-mcp rewrite shop.json --tool create_order",
            "Next: tdqs-mcp rewrite shop.json --target A",
        ]
    broken = {**FINE, "inputSchema": {**FINE["inputSchema"], "type": "array"}}
    assert any(line.startswith("Next: tdqs-mcp rules TDQ2") for line in shown(broken, width=200))


def test_the_tool_set_has_its_reasons_and_the_last_line_says_what_the_numbers_mean(shown):
    lines = shown(*POOR, FINE, width=110, locator="shop.json")
    place = lines.index(next(line for line in lines if line.startswith("Coherence ")))
    assert [line.split("  ")[0] for line in lines[place + 1 : place + 5]] == [
        "disambiguation",
        "naming consistency",
        "tool count appropriateness",
        "completeness",
    ]
    assert "80%: where a reader's score lies in 8 of 10 cases" in lines[-1]
    assert "better than: " in lines[-1]


def test_what_gains_most_is_fixed_first(shown):
    """A description for the lowest tool gains more than a hint for a good one."""
    silent = {key: value for key, value in FINE.items() if key != "description"} | {"name": "silent"}
    fixes = "\n".join(shown(FINE | {"annotations": {}}, silent, width=110)).partition("Fix first")[2]
    assert "silent (1.0 D)" in fixes.partition("2. ")[0]


def test_many_servers_are_ranked_without_a_report_of_each(command, write, tmp_path):
    for name in "abcd":
        write(f"{name}.json", [tool("find_orders", "Find orders." * (name != "c"))])
    text = command("score", tmp_path).stdout.decode()
    assert "4 servers, the lowest first" in text
    assert "Fix first" not in text


def test_one_tool_shows_its_reasons_and_its_two_best_fixes(command, write):
    file = write("shop.json", [*POOR, FINE])
    run = command("score", file, "--tool", "create_order")
    lines = run.stdout.decode().splitlines()
    assert run.returncode == 0
    assert lines[0].startswith("create_order of shop · ")
    assert (
        sum(line.startswith(("purpose clarity ", "usage guidelines ", "contextual completeness ")) for line in lines)
        == 3
    )
    assert [line[:3] for line in lines if line[:1].isdigit()] == ["1. ", "2. "]
    assert "--tool create_order" in " ".join(lines)
    assert "update_order (" not in run.stdout.decode()


def test_the_likely_range_of_a_score_stands_beside_it_and_in_json(command, write):
    file = write("shop.json", [*POOR, FINE])
    document = json.loads(command("score", file, "--tool", "create_order", "--format", "json").stdout)
    low, high = document["likely"]
    assert low < document["overallScore"] < high
    overall = f"{document['overallScore']} {document['overallTier']} (80%: {low} to {high})"
    assert f"overall {overall}   descriptions" in command("score", file).stdout.decode()
    assert f"## shop: {overall}\n" in command("score", file, "--format", "markdown").stdout.decode()
    outlook = document["tools"][0]["outlook"]
    shown = f"(80%: {outlook['low']} to {outlook['high']})"
    for form in ("text", "markdown"):
        heading = command("score", file, "--tool", "create_order", "--format", form).stdout.decode().splitlines()[0]
        assert shown in heading


def test_a_tool_is_unsure_where_no_tier_is_likely_enough(command, write):
    reads = {"readOnlyHint": True}
    boards = tool("get_boards", "Get a list of boards the user has access to.", flat(0), annotations=reads)
    file = write("tools.json", [boards, *POOR, FINE, LONG])
    tools = json.loads(command("score", file, "--format", "json").stdout)["tools"]
    odds = [max(entry["outlook"]["tiers"].values()) for entry in tools]
    count = sum(chance < 0.6 for chance in odds)
    text = command("score", file).stdout.decode()
    assert 0 < count < len(tools)
    assert text.count("unsure: ") == count == sum(entry["outlook"]["tooCloseToCall"] for entry in tools)
    assert f"{count} tool{'s' * (count > 1)}: no tier is 60% likely" in text


def test_a_text_that_leaves_out_too_much_is_not_told_to_say_the_same_in_fewer_words(catalog):
    text = "Get details of a specific board.\n\nArgs:\n    board_id: The board ID"
    boards = tool("get_boards", "Get a list of boards the user has access to.", flat(0))
    scored = judging.score_offline(catalog(tool("get_board", text, takes("board_id")), boards)).tools[0]
    reasons = {key: judgement.justification for key, judgement in scored.judgements.items()}
    assert scored.scores["conciseness_structure"] == 3
    assert "results come back" in reasons["contextual_completeness"]
    assert "fewer words" not in reasons["conciseness_structure"]


def test_a_text_with_a_use_case_is_not_told_that_it_has_no_sentence_about_its_use(catalog):
    text = "Search diseases of farm animals. Use case: report on outbreaks in a canton, e.g. to find the last ones."
    others = tool("get_farms", "Get a list of farms.", flat(0))
    reasons = judging.score_offline(catalog(tool("search_diseases", text, takes("animal")), others)).tools[0].judgements
    assert "Use this when" not in reasons["usage_guidelines"].justification


def test_a_score_whose_error_is_not_known_has_no_range(catalog):
    score = judging.score_offline(catalog(*POOR))
    unknown = replace(score.judge, id="openai", calibration=None)
    assert likely_overall(score.rollup.overall, score.judge) == score.likely
    assert likely_overall(score.rollup.overall, unknown) is None
    assert likely_overall(None, score.judge) is None


def test_json_of_one_tool_has_no_other(command, write):
    document = json.loads(
        command("score", write("shop.json", [*POOR, FINE]), "--tool", "create_order", "--format", "json").stdout
    )
    assert [each["name"] for each in document["tools"]] == ["create_order"]
    assert {each["subject"]["name"] for each in document["findings"]} == {"create_order"}
    assert document["scoredToolCount"] == 4


def test_a_tool_that_is_not_there_is_an_error_that_names_the_nearest(command, write):
    run = command("score", write("shop.json", POOR), "--tool", "creat_order")
    assert run.returncode == 2
    assert b"did you mean create_order" in run.stderr


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_bar_that_is_not_met_has_a_line(command, write, form):
    run = command("score", write("shop.json", POOR), "--fail-under", "A", "--format", form)
    assert run.returncode == 1
    assert run.stderr.decode().startswith("FAIL: shop: overall ")
    assert run.stderr.decode().endswith(", below A\n")
    assert command("score", write("fine.json", [FINE, LOOKUP]), "--fail-under", "D").stderr == b""


def test_a_grade_that_is_not_met_has_a_line(command, write):
    assert command("score", "--rubric", "playground", write("shop.json", POOR), "--fail-under", "A").stderr.startswith(
        b"FAIL: shop: "
    )


def test_a_share_of_queries_that_is_not_met_has_a_line(command, write):
    twins = [
        tool(f"{verb}_orders", "Gets orders of a customer of the shop.", flat(1))
        for verb in "get read see take open show".split()
    ]
    run = command("select", write("shop.json", twins), "--fail-under", "100")
    assert run.returncode == 1
    assert b"FAIL: shop: " in run.stderr
