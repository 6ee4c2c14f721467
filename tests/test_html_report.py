"""The report for a browser: what it shows, and how it does in a real Chromium."""

import json
import re
from xml.etree import ElementTree as ET

import pytest
from browser import DESKTOP, PHONE
from definitions import EVIL, FINE, flat, tool

from tdqs_mcp.judges.offline import calibration, versions

QUOTED = tool(
    "list_orders",
    "Lists the open orders of one customer, newest first. Use it when you know the customer.\n\nReturns at most 50 orders.",
    {
        "type": "object",
        "properties": {"customer": {"type": "string", "description": "The customer's id."}},
        "required": ["customer"],
    },
)


def many(count):
    """So many tools of every kind, as large as real ones."""
    kinds = [FINE, QUOTED, tool("process", "Process", flat(6)), *[QUOTED] * 6, EVIL]
    return [{**kinds[place % 10], "name": f"{kinds[place % 10]['name']}_{place}"} for place in range(count)]


@pytest.fixture
def report(request, write, tmp_path):
    """The page of a command about these tools; beside a browser, the command has a process of its own."""
    run = request.getfixturevalue("tdqs_mcp" if request.node.get_closest_marker("process") else "command")

    def make(tools, *words):
        file = write("shop.json", tools) if isinstance(tools, list) else tools
        page = tmp_path / "page.html"
        done = run(*(words or ("score",)), file, "--format", "html", "--output", page)
        assert done.returncode < 2, done.stderr
        return page

    return make


def test_the_page_shows_the_score_with_its_arithmetic(report, command, write):
    text = report([QUOTED, tool("process", "Process", flat(3))]).read_text(encoding="utf-8")
    score = json.loads(
        command("score", write("shop.json", [QUOTED, tool("process", "Process", flat(3))]), "--format", "json").stdout
    )
    plain = re.sub(r"<[^>]+>", "", text)
    assert f"{score['overallScore']}{score['overallTier']}" in plain
    assert f"70% × {score['descriptionQualityScore']} descriptions + 30% × {score['coherenceScore']} coherence" in plain
    assert f"60% × {score['meanTdqs']} mean + 40% × {score['minTdqs']} lowest tool" in plain


def test_the_lowest_tool_stands_first_and_a_tool_without_findings_last(report):
    text = report([QUOTED, tool("process", "Process", flat(3))]).read_text(encoding="utf-8")
    assert re.findall(r'class="name">(\w+)', text) == ["process", "list_orders"]


def test_quoted_words_are_marked_in_the_definition_with_the_dimension(report):
    text = report([QUOTED]).read_text(encoding="utf-8")
    marked = re.findall(r"<mark>(.*?)<sup>(.*?)</sup>", text, re.DOTALL)
    assert ("Lists the open orders of one customer, newest first.", "purpose, concise") in marked
    assert all(words.strip() in QUOTED["description"] for words, _ in marked)


def test_each_tool_has_its_rewrite_with_marked_words_and_sources(report, command):
    shop = [
        tool("list_orders", "Lists orders. It returns order_id.", flat(1)),
        FINE,
        tool(
            "get_order",
            "Gets an order.",
            {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]},
        ),
    ]
    text = report(shop).read_text(encoding="utf-8")
    file = report(shop, "rewrite")
    rewritten = file.read_text(encoding="utf-8")
    words = re.findall(r"<ins>.*?</ins>", text)
    assert words
    assert sorted(words) == sorted(re.findall(r"<ins>.*?</ins>", rewritten))
    assert "why: " in text


def test_the_range_of_an_overall_score_is_the_judge_s_error_on_labeled_servers(report):
    servers, low, high = calibration(versions()[0]).server_error
    assert (servers, low < 0 < high) == (60, True)
    text = report([QUOTED, tool("process", "Process", flat(3))]).read_text(encoding="utf-8")
    overall = round(10 * float(re.search(r'class="big">([\d.]+)', text)[1]))
    assert f"Likely {(overall + low) / 10} to {(overall + high) / 10}, as for 80% of 60 labeled servers" in text


def test_values_that_are_no_text_are_shown_as_json(report):
    schema = {"type": "object", "properties": {"mode": {"enum": [True, 1, "fast"]}}}
    text = report([tool("run_job", "Runs a job.", schema)]).read_text(encoding="utf-8")
    assert "<code>true</code> <code>1</code> <code>fast</code>" in text


def test_one_tool_alone_is_shown_on_request(report):
    text = report([QUOTED, tool("process", "Process", flat(3))], "score", "--tool", "process").read_text(
        encoding="utf-8"
    )
    assert re.findall(r'class="name">(\w+)', text) == ["process"]


def test_the_page_is_about_one_server(command, write):
    done = command("score", write("a.json", [FINE]), write("b.json", [FINE]), "--format", "html")
    assert done.returncode == 2
    assert b"give one locator" in done.stderr


def test_a_server_without_tools_has_a_page_too(command, write, tmp_path):
    page = tmp_path / "page.html"
    assert command("score", write("shop.json", []), "--format", "html", "--output", page).returncode == 2
    assert "no score" in page.read_text(encoding="utf-8")


def test_no_text_of_a_definition_becomes_markup(report):
    text = report([EVIL, {**EVIL, "name": "other"}]).read_text(encoding="utf-8")
    assert text.count("<script>") == text.count("</script>") == 1
    assert "<img" not in text
    assert "<b>evil" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\x1b[31mred" in text
    assert "{{ 7 * 7 }}" in text


@pytest.mark.parametrize("words", [("rewrite",), ("rewrite", "--target", "A"), ("compare", "old")])
def test_the_other_pages_escape_too(report, write, words):
    words = [write("old.json", [{**EVIL, "description": "Old."}]) if word == "old" else word for word in words]
    text = report([EVIL, QUOTED], *words).read_text(encoding="utf-8")
    assert text.count("<script>") == 1
    assert "<img" not in text


def test_a_rewrite_marks_the_words_that_go_and_come(report, write):
    draft = write("draft.md", QUOTED["description"].replace("you know the customer", "somebody names the customer"))
    words = ("rewrite", "--tool", "list_orders", "--draft", draft)
    text = report([QUOTED, FINE], *words).read_text(encoding="utf-8")
    assert "<del>you know</del>" in text
    assert "<ins>somebody names</ins>" in text


def test_a_comparison_marks_the_words_of_reworded_texts(report, write):
    old = write("old.json", [QUOTED])
    new = {
        **QUOTED,
        "description": QUOTED["description"].replace("you know the customer", "somebody names the customer"),
    }
    text = report([new], "compare", old).read_text(encoding="utf-8")
    assert "<del>you know</del>" in text
    assert "<ins>somebody names</ins>" in text


# The badge


def test_the_badge_shows_the_score_and_how_to_show_it(command, write, tmp_path):
    badge, shop = tmp_path / "my badge.svg", write("<shop>.json", [QUOTED])
    done = command("score", shop, "--format", "badge", "--output", badge)
    score = json.loads(command("score", shop, "--format", "json").stdout)
    words = f"{score['overallScore']} {score['overallTier']} estimate"
    drawn = ET.fromstring(badge.read_text(encoding="utf-8"))  # noqa: S314  # ours
    assert [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")] == ["tool definitions", words]
    assert drawn.find("{http://www.w3.org/2000/svg}title").text == f"<shop>: tool definitions {words}"
    assert f"[![tool definitions: {words}](".encode() in done.stderr
    assert b"my%20badge.svg)](https://github.com/tdqs-mcp/tdqs-mcp)" in done.stderr


def test_a_badge_of_nothing_says_so(command, write):
    assert b">no score</text>" in command("score", write("empty.json", []), "--format", "badge").stdout


@pytest.mark.parametrize("words", [("--tool", "process"), ("--rubric", "smells"), ("other.json",)])
def test_a_badge_is_about_one_whole_server(command, write, words):
    assert command("score", write("shop.json", [FINE]), *words, "--format", "badge").returncode == 2


# In a browser

WAYS = [
    (1, "light", DESKTOP),
    (60, "dark", PHONE),
]


@pytest.mark.process
@pytest.mark.parametrize(("count", "scheme", "size"), WAYS)
def test_the_page_is_quiet_and_accessible(report, visit, count, scheme, size):
    file = report(many(count))
    seen = visit(file, color_scheme=scheme, viewport={"width": size[0], "height": size[1]})
    if count > 1:
        seen.page.locator(".tool > summary").nth(1).click()
    assert seen.logged == []
    assert seen.asked == [file.as_uri()]
    assert not seen.is_wider_than_the_screen
    assert seen.page.title() != "taken"
    assert seen.serious() == []


@pytest.mark.process
@pytest.mark.parametrize("words", [("rewrite",), ("rewrite", "--target", "A"), ("compare", "old")])
def test_the_other_pages_are_quiet_and_accessible(report, visit, write, words):
    words = [write("old.json", [QUOTED]) if word == "old" else word for word in words]
    file = report(many(8), *words)
    seen = visit(file, viewport={"width": 390, "height": 844})
    assert (seen.logged, seen.asked) == ([], [file.as_uri()])
    assert not seen.is_wider_than_the_screen
    assert seen.serious() == []


@pytest.mark.process
def test_200_tools_are_a_small_page(report, visit):
    file = report(many(200))
    assert file.stat().st_size < 1_550_000
    seen = visit(file, viewport={"width": 1280, "height": 900})
    assert (seen.logged, seen.asked) == ([], [file.as_uri()])


@pytest.mark.process
def test_the_largest_catalog_has_a_page(report, visit, catalog_files):
    page = report(max(catalog_files, key=lambda file: file.stat().st_size))
    seen = visit(page)
    assert (seen.logged, seen.asked) == ([], [page.as_uri()])
    assert not seen.is_wider_than_the_screen


@pytest.mark.process
def test_tools_are_searched_filtered_and_sorted(report, visit):
    page = visit(report([FINE, QUOTED, tool("process", "Process", flat(3))])).page
    names = page.locator(".tool:visible .name")
    page.fill("#search", "LIST_orders newest")
    assert names.all_inner_texts() == ["list_orders"]
    page.fill("#search", "zzzz")
    assert page.locator("#nothing").is_visible()
    page.fill("#search", "")
    page.select_option("#weak", "purpose_clarity")
    assert names.all_inner_texts() == ["process"]
    page.select_option("#weak", "")
    page.select_option("#sort", "name")
    assert names.all_inner_texts() == sorted(names.all_inner_texts())
    page.select_option("#tier", "D")
    assert names.all_inner_texts() == ["process"]


@pytest.mark.process
def test_a_link_to_a_tool_opens_it(report, visit):
    page = visit(report([FINE, QUOTED])).page
    page.locator("#tokens a").first.click()
    page.locator(".tool[open]").wait_for()


@pytest.mark.process
def test_the_page_works_without_a_script(report, visit):
    page = visit(report([FINE, QUOTED]), java_script_enabled=False).page
    assert page.locator("#controls").is_hidden()
    page.locator(".tool > summary").first.click()
    assert page.locator(".tool[open] .reasons").is_visible()


@pytest.mark.process
def test_a_print_has_every_tool_open(report, visit):
    seen = visit(report([FINE, QUOTED]))
    seen.page.emulate_media(media="print")
    assert seen.page.locator("#controls").is_hidden()
    seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert seen.page.locator(".tool[open]").count() == 2
    seen.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert seen.page.locator(".tool[open]").count() == 0


@pytest.mark.process
def test_paper_is_white_where_the_screen_is_dark(report, visit):
    page = visit(report([FINE, QUOTED]), color_scheme="dark").page
    colors = "getComputedStyle(document.querySelector('.panel')).backgroundColor"
    assert page.evaluate(colors) == "rgb(22, 27, 34)"
    page.emulate_media(media="print")
    assert page.evaluate(colors) == "rgb(255, 255, 255)"
