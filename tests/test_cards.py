"""The cards in the chat (MCP Apps, SEP-1865): what clients are told of them, and how they do in a host's sandbox."""

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import anyio
import pytest
from browser import Visit
from definitions import FINE, flat, tool
from mcp.client import advertise
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from own_server import in_process, over_stdio

SHOWS = {"extensions": [advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})]}
"""A client that shows cards."""

CARDS = {"score_server": "ui://tdqs/score.html", "suggest_rewrite": "ui://tdqs/rewrite.html"}
HOSTILE = "<script>parent.taken = 1</script><img src=x onerror=alert(1)> **bold** \x1b[31mred\u202e ⟦SYSTEM⟧ \ud800"
SHOP = [
    tool("cancel_order", "Cancels an order.", flat(2)),
    tool("list_orders", "Lists orders, newest first. It returns order_id. Use it to find an order.", flat(1)),
    FINE,
    tool("process", "Process", flat(6)),
]
DRAFT = {"cancel_order": {"description": f"Cancels one order for good. {HOSTILE}"}}


async def listed(client):
    page = (await client.list_tools()).model_dump(by_alias=True, mode="json", exclude_none=True)
    return {each["name"]: each for each in page["tools"]}


@pytest.mark.anyio
@pytest.mark.process
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_that_shows_cards_is_told_which_tools_have_one_and_others_see_nothing_new(mode):
    async with over_stdio(mode=mode) as plain, over_stdio(mode=mode, **SHOWS) as shows:
        known, told = await listed(plain), await listed(shows)
        assert all("_meta" not in each for each in known.values())
        assert [each.uri for each in (await plain.list_resources()).resources] == ["tdqs://rules", "tdqs://reports"]
        assert {name: each.pop("_meta", None) for name, each in told.items()} == {
            name: {"ui": {"resourceUri": CARDS[name]}} if name in CARDS else None for name in known
        }
        assert told == known
        assert list(CARDS.values()) == [
            each.uri for each in (await shows.list_resources()).resources if each.mime_type == APP_MIME_TYPE
        ]
        scored = [await client.call_tool("score_server", {"catalog": SHOP}) for client in (plain, shows)]
        names = {"catalog": scored[0].structured_content["catalog"], "tool": "list_orders"}
        drafts = [await client.call_tool("suggest_rewrite", names | {"catalog": SHOP}) for client in (plain, shows)]
        for without, with_card in (scored, drafts):
            assert without.structured_content == with_card.structured_content
            assert without.content == with_card.content
            assert "io.github.tdqs-mcp/card" not in (without.meta or {})
            assert "io.github.tdqs-mcp/card" in with_card.meta
        for uri in CARDS.values():
            [page] = (await shows.read_resource(uri)).contents
            assert page.mime_type == APP_MIME_TYPE
            assert page.meta == {"ui": {"prefersBorder": True}}
            assert page.text.startswith("<!DOCTYPE html>")


# In a browser

HOST = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>A chat</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<style>body { margin: 0 } iframe { border: 0; width: 100%; display: block }</style></head>
<body><main><h1 hidden>A chat</h1><iframe id="frame" sandbox="allow-scripts" title="card"></iframe></main><script>
const frame = document.getElementById("frame");
const said = [];
const until = async (test) => { while (!test()) await new Promise((go) => setTimeout(go, 5)); };
const tell = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
const open = (html, context, ...later) => {
  addEventListener("message", ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    said.push(data);
    if (data.method === "ui/initialize") {
      tell({ id: data.id, result: {
        protocolVersion: "2026-01-26", hostInfo: { name: "test", version: "1" }, hostCapabilities: {}, hostContext: context } });
    }
    if (data.method === "ui/notifications/initialized") later.forEach(tell);
    if (data.method === "ui/notifications/size-changed") frame.style.height = `${data.params.height}px`;
  });
  frame.srcdoc = html;
};
</script></body></html>"""


def results(*calls):
    """The cards' pages, and the results of these calls of one server, as a host gets them."""

    async def ask():
        async with in_process(**SHOWS) as client:
            pages = {uri: (await client.read_resource(uri)).contents[0].text for uri in CARDS.values()}
            given = [await client.call_tool(name, arguments) for name, arguments in calls]
            return pages, [each.model_dump(by_alias=True, mode="json", exclude_none=True) for each in given]

    with ThreadPoolExecutor() as threads:  # Playwright's own loop runs in this one
        return threads.submit(anyio.run, ask).result()


@pytest.fixture(scope="module")
def answered():
    """The page and the result of each tool that has a card, about a hostile catalog too."""
    hostile = [{**SHOP[0], "name": HOSTILE, "description": HOSTILE}, *SHOP]
    pages, (scored, drafted) = results(
        ("score_server", {"catalog": {"server": HOSTILE, "tools": hostile}}),
        ("suggest_rewrite", {"catalog": SHOP, "draft": DRAFT}),
    )
    return {"score": (pages[CARDS["score_server"]], scored), "rewrite": (pages[CARDS["suggest_rewrite"]], drafted)}


class Chat(Visit):
    """A host's page with a card in a sandbox."""

    def __init__(self, browser, page, *messages, context=None, **options):
        super().__init__(browser, **options)
        self.page.set_content(HOST)
        self.page.evaluate("([page, context, later]) => open(page, context, ...later)", [page, context or {}, messages])
        self.card = self.page.frame_locator("#frame").locator("#card")
        self.frame = next(each for each in self.page.frames if each.parent_frame)

    @property
    def document(self):
        return self.frame

    def wait(self, text):
        self.card.get_by_text(text).first.wait_for()
        self.page.evaluate("until(() => said.some((each) => each.method === 'ui/notifications/size-changed'))")
        return self


@pytest.fixture
def chat(visit):
    return partial(visit, kind=Chat)


def result(given):
    return {"method": "ui/notifications/tool-result", "params": given}


@pytest.mark.process
@pytest.mark.parametrize("name", ["score", "rewrite"])
@pytest.mark.parametrize(("theme", "width"), [("light", 800), ("dark", 800), ("light", 360), ("dark", 360)])
def test_a_card_is_quiet_accessible_and_as_the_host_looks(chat, answered, name, theme, width):
    page, given = answered[name]
    others = {"light": "dark", "dark": "light"}
    seen = chat(
        page,
        {"method": "ui/notifications/tool-input", "params": {"arguments": {}}},
        result(given),
        context={"theme": theme},
        color_scheme=others[theme],
        viewport={"width": width, "height": 700},
    ).wait("What helps most first" if name == "score" else "with new words")
    assert seen.logged == []
    assert [each for each in seen.asked if not each.startswith(("about:", "data:"))] == []
    assert seen.page.evaluate("window.taken") is None
    background = seen.frame.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 27, 34)"}[theme]
    assert not seen.is_wider_than_the_screen
    seen.frame.wait_for_function("document.documentElement.scrollHeight <= innerHeight")
    assert seen.serious() == []


@pytest.mark.process
def test_the_score_s_card_shows_the_server_s_numbers_and_what_helps_most_first(chat, answered):
    page, given = answered["score"]
    answer = given["structuredContent"]
    card = chat(page, result(given)).wait("What helps most first").card
    assert card.locator(".big").inner_text().split() == [str(answer["overallScore"]), answer["overallTier"]]
    assert "<script>parent.taken" in card.locator("h1").inner_text()
    titles = card.locator(".means li span:first-child").all_inner_texts()
    assert titles[:2] == ["Purpose Clarity", "Usage Guidelines"]
    shown = card.locator(".name").all_inner_texts()
    assert [each["name"].strip("⟦⟧") for each in answer["tools"]] == shown
    first = answer["tools"][0]
    fix = first.get("fix") or next(fix for fix in answer["sharedFixes"] if first["name"] in fix["tools"])
    assert fix["suggestion"].strip("⟦⟧") in card.locator(".fix").first.inner_text()


@pytest.mark.process
def test_the_rewrite_s_card_marks_the_words_and_names_their_sources(chat):
    told = {"answers": {"list_orders.behavior": "It fails for <img src=x> customers."}}
    pages, [given] = results(("suggest_rewrite", {"catalog": SHOP, "tool": "list_orders", "material": told}))
    card = chat(pages[CARDS["suggest_rewrite"]], result(given)).wait("with new words").card
    assert "It fails for <img src=x> customers." in card.locator(".words ins").first.inner_text()
    assert "Use it to find an order." in card.locator(".words span").first.inner_text()
    assert "Rests on: " in card.inner_text()
    assert card.locator("img, script").count() == 0


@pytest.mark.process
def test_what_was_refused_is_said_with_the_reason_and_shown_as_text(chat, answered):
    page, given = answered["rewrite"]
    card = chat(page, result(given)).wait("with new words").card
    refused = card.locator(".warning").first.inner_text()
    assert refused.startswith("Refused: <script>par")
    assert "its text contains markup that a rendered page hides, runs or fetches" in refused


@pytest.mark.process
def test_what_conflicts_and_what_is_unproven_is_said_on_the_card(chat):
    words = "Cancels one order for good. Use `void_order` first."
    pages, [given] = results(("suggest_rewrite", {"catalog": SHOP, "draft": {"cancel_order": {"description": words}}}))
    card = chat(pages[CARDS["suggest_rewrite"]], result(given)).wait("with new words").card
    warnings = card.locator(".warning").all_inner_texts()
    assert "Conflict: Use `void_order` first. (there is no tool 'void_order')" in warnings


@pytest.mark.process
def test_without_meta_a_card_shows_what_the_structured_content_has(chat, answered):
    for page, given in answered.values():
        bare = {key: value for key, value in given.items() if key != "_meta"}
        seen = chat(page, result(bare)).wait("cancel_order")
        assert seen.logged == []


@pytest.mark.process
@pytest.mark.parametrize(
    ("message", "text"),
    [
        (
            result({"isError": True, "content": [{"type": "text", "text": "<b>no</b> such file"}]}),
            "<b>no</b> such file",
        ),
        (result({"content": [{"type": "text", "text": "only text"}]}), "only text"),
        ({"method": "ui/notifications/tool-cancelled", "params": {"reason": "user"}}, "The call was cancelled."),
    ],
)
def test_a_call_that_ends_otherwise_is_said_in_words(chat, answered, message, text):
    seen = chat(answered["score"][0], message).wait(text)
    assert seen.logged == []


@pytest.mark.process
@pytest.mark.parametrize("rubric", ["smells", "bundles"])
def test_labels_have_a_card_too(chat, rubric):
    pages, [given] = results(("score_server", {"catalog": SHOP, "rubric": rubric}))
    seen = chat(pages[CARDS["score_server"]], result(given)).wait("What helps most first")
    assert seen.logged == []


@pytest.mark.process
def test_a_server_without_tools_has_a_card_too(chat):
    pages, given = results(
        ("score_server", {"catalog": []}), ("suggest_rewrite", {"catalog": [FINE], "tool": FINE["name"]})
    )
    assert chat(pages[CARDS["score_server"]], result(given[0])).wait("no score").logged == []
    assert chat(pages[CARDS["suggest_rewrite"]], result(given[1])).wait("with new words").logged == []


@pytest.mark.process
def test_the_host_s_requests_are_answered_and_its_context_is_followed(chat, answered):
    later = {"method": "ui/notifications/host-context-changed", "params": {"theme": "dark"}}
    requests = [
        {"id": f"r{place}", "method": name, "params": {}}
        for place, name in enumerate(("ping", "ui/resource-teardown", "x/y"))
    ]
    variables = {
        "--color-text-primary": "rgb(1, 2, 3)",
        "--position": "fixed",
        "--color-background-primary": "rgb(250, 250, 250)",
    }
    seen = chat(
        answered["score"][0],
        *requests,
        result(answered["score"][1]),
        context={"theme": "light", "styles": {"variables": variables}},
    ).wait("What helps most first")
    seen.page.evaluate("until(() => said.filter((each) => each.id?.startsWith?.('r')).length === 3)")
    replies = {each["id"]: each for each in seen.page.evaluate("said") if str(each.get("id")).startswith("r")}
    assert replies["r0"]["result"] == replies["r1"]["result"] == {}
    assert replies["r2"]["error"]["code"] == -32601
    style = "getComputedStyle(document.body)"
    assert seen.frame.evaluate(f"[{style}.color, {style}.getPropertyValue('--position')]") == ["rgb(1, 2, 3)", ""]
    seen.page.evaluate("(later) => tell(later)", later)
    seen.frame.wait_for_function("document.documentElement.style.colorScheme === 'dark'")
    first = seen.page.evaluate("said[0]")
    assert first["method"] == "ui/initialize"
    assert first["params"]["protocolVersion"] == "2026-01-26"
    assert json.dumps(first["params"]["appCapabilities"])
