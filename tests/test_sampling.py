"""The connected client's model as judge, through a real client in both protocol eras."""

import json
import logging
import sys
from dataclasses import dataclass, field

import anyio
import pytest
from definitions import flat, tool
from loopback import USUAL, tdqs, tool_of
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import CreateMessageResult, ElicitResult, ErrorData, ImageContent, TextContent
from own_server import in_process, over_stdio, serving

from tdqs_mcp.server import connected_client

pytestmark = pytest.mark.anyio
ERAS = ["legacy", "auto"]


GOOD = USUAL["tdqs"]
RICH = "Gives an order with its lines, date and total; an unknown order is an error. Use it only for this order."
WRONG = tdqs(9, 9, 9, 9, 9, 9)
COHERENT = USUAL["coherence"]


SHADOWED = {"tool": "dear", "cheaperSibling": "cheap", "justification": "Both report sales."}


@dataclass
class Host:
    """A client with a model that answers by the tool's name; what it was asked stands in `asked`."""

    asked: list = field(default_factory=list)

    async def sample(self, context, params):
        question = params.messages[0].content.text
        name = tool_of(question) or ("(pairs)" if "<pairs>" in question else "(set)")
        self.asked.append((name, params))
        tries = [asked for asked, _ in self.asked].count(name)
        if name == "declined":
            return ErrorData(code=-1, message="User rejected sampling request")
        if name == "drawn":
            return self._says(ImageContent(type="image", data="", mime_type="image/png"))
        if name == "cut":
            return self._says(TextContent(type="text", text=GOOD[:30]), stop="maxTokens")
        if name == "(pairs)":
            return self._says(TextContent(type="text", text=json.dumps({"shadowing": [SHADOWED]})))
        text = (
            COHERENT if name == "(set)" else WRONG if name == "stubborn" or (name == "mended" and tries == 1) else GOOD
        )
        return self._says(TextContent(type="text", text=text))

    def _says(self, content, stop="endTurn"):
        return CreateMessageResult(role="assistant", content=content, model="host-model-1", stop_reason=stop)

    def names(self):
        return sorted(name for name, _ in self.asked)


async def call(client, name, **arguments):
    result = await client.call_tool(name, arguments | {"judge": "sampling"})
    assert not result.is_error, result.content[0].text
    return result.structured_content


def reasons(answer):
    return {each["name"]: each["ungraded"] for each in answer["tools"] if "ungraded" in each}


@pytest.mark.parametrize("start", [in_process, pytest.param(over_stdio, marks=pytest.mark.process)])
@pytest.mark.parametrize("mode", ERAS)
async def test_the_client_s_model_scores_a_server(mode, start):
    host, tools = Host(), [tool("good"), tool("mended"), tool("stubborn"), tool("silent", None)]
    async with start(mode=mode, sampling_callback=host.sample) as client:
        answer = await call(client, "score_server", catalog=tools, detail="full")
        again = await call(client, "score_tool_definition", definition=tool("good", "Other words."))
    assert answer["judge"] == {"id": "sampling", "version": "1", "model": "host-model-1", "calibration": None}
    scores = {each["name"]: each["tdqs"] for each in answer["tools"]}
    assert scores == {"good": 2.7, "mended": 2.7, "silent": 1.0, "stubborn": None}
    assert "2 answers of 'host-model-1' broke the output format" in reasons(answer)["stubborn"]
    assert answer["coherenceScore"] == 4.0
    assert again["tdqs"] == 2.7
    assert host.names() == ["(set)", "good", "good", "mended", "mended", "stubborn", "stubborn"]
    _, params = next(asked for asked in host.asked if asked[0] == "good")
    assert params.system_prompt.startswith("You evaluate MCP tool definitions")
    _, corrected = [asked for asked in host.asked if asked[0] == "mended"][1]
    assert [each.role for each in corrected.messages] == ["user", "assistant", "user"]
    assert "scores.purpose_clarity.score" in corrected.messages[2].content.text


@pytest.mark.parametrize("mode", ERAS)
async def test_the_client_s_model_is_asked_once_which_shadow_candidates_are_risks(mode):
    host = Host()
    async with in_process(mode=mode, sampling_callback=host.sample) as client:
        tools = [tool("dear", "Finds sales.", flat(8)), tool("cheap", "Gets sales.")]
        answer = await call(client, "score_server", catalog=tools, detail="full")
        await call(client, "score_tool_definition", definition=tools[0], siblings=["cheap"])
    assert [each["tool"] for each in answer["full"]["shadowingRisks"]] == ["dear"]
    assert host.names().count("(pairs)") == 1


@pytest.mark.parametrize("mode", ERAS)
async def test_the_client_s_model_judges_by_another_rubric(mode):
    async def sample(context, params):
        said = TextContent(type="text", text=USUAL["bundles"])
        return CreateMessageResult(role="assistant", content=said, model="host-model-1")

    async with in_process(mode=mode, sampling_callback=sample) as client:
        answer = await call(client, "score_server", catalog=[tool("a"), tool("b")], rubric="bundles")
        one = await call(client, "score_tool_definition", definition=tool("a"), rubric="bundles")
    assert (answer["labels"], answer["judge"]["model"]) == ({"Good": 2}, "host-model-1")
    assert (one["label"], one["overall"]) == ("Good", 81.3), "naming has nothing to compare with"


@pytest.mark.parametrize("mode", ERAS)
async def test_an_answer_without_usable_text_leaves_one_tool_ungraded(mode):
    async with in_process(mode=mode, sampling_callback=Host().sample) as client:
        answer = await call(client, "score_server", catalog=[tool("good"), tool("drawn"), tool("cut")])
    assert set(reasons(answer)) == {"drawn", "cut"}
    assert "answered with no text" in reasons(answer)["drawn"]
    assert "cut off after 30 characters" in reasons(answer)["cut"]


async def test_a_client_that_declines_is_asked_once_and_keeps_what_it_has_answered():
    host = Host()
    async with in_process(mode="legacy", sampling_callback=host.sample) as client:
        answer = await call(client, "score_server", catalog=[tool("declined"), tool("good"), tool("better")])
        assert host.names() == ["declined"]
        assert answer["scoredToolCount"] == 0
        assert all("(User rejected sampling request)" in each for each in reasons(answer).values())
        assert answer["next"].startswith("The judge graded no tool: score_server with catalog")
        answer = await call(client, "score_server", catalog=[tool("good"), tool("declined")])
    assert answer["scoredToolCount"] == 1
    assert "(User rejected sampling request): allow its sampling requests" in reasons(answer)["declined"]


async def test_a_declined_request_ends_a_call_that_waits_for_it_and_the_server_goes_on():
    async with in_process(mode="auto", sampling_callback=Host().sample) as client:
        with pytest.raises(MCPError, match="User rejected"):
            await call(client, "score_server", catalog=[tool("declined"), tool("good")])
        assert (await call(client, "score_tool_definition", definition=tool("good")))["tdqs"] == 2.7


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("name", ["score_server", "score_tool_definition"])
async def test_a_client_that_lends_no_model_is_told_what_to_do_instead(mode, name):
    arguments = {"catalog": [tool()]} if name == "score_server" else {"definition": tool()}
    async with in_process(mode=mode) as client:
        result = await client.call_tool(name, arguments | {"judge": "sampling"})
    assert result.is_error
    assert "does not offer sampling. Leave 'judge' out" in result.content[0].text
    assert "judge_definitions" in result.content[0].text


@pytest.mark.parametrize("mode", ERAS)
async def test_200_tools_are_asked_for_within_the_rounds_of_any_client_with_progress_at_the_end(mode):
    host, heard = Host(), []

    async def hear(progress, total, message):
        heard.append((progress, total))

    texts = (
        RICH,
        "Reads the archive of invoices, which is a day behind; refunded ones are missing. Use it for bookkeeping alone.",
        "Asks the warehouse by phone line, so it may take a minute; parcels on the road count as stock. Not for returns.",
    )
    tools = [tool(f"get_order_{number}", f"Get order {number}. {texts[number % 3]}") for number in range(199)]
    tools.append(tool("mended", RICH))
    async with in_process(mode=mode, sampling_callback=host.sample, input_required_max_rounds=3) as client:
        arguments = {"catalog": tools, "judge": "sampling"}
        result = await client.call_tool("score_server", arguments, progress_callback=hear)
        assert result.structured_content["scoredToolCount"] == 200
        page = await call(client, "score_server", catalog=result.structured_content["catalog"], offset=10)
    assert page["scoredToolCount"] == 200
    assert len(host.asked) == 202, "every tool and the set once, one correction, and nothing for the second page"
    assert heard[-1] == (201, 201)
    assert [done for done, _ in heard] == sorted({done for done, _ in heard}), "it only ever grows, rounds or not"


@pytest.mark.parametrize("mode", ERAS)
async def test_a_file_is_read_once_however_often_the_client_is_asked(mode, write):
    file = write("shop.json", [tool("mended")])

    class Deleting(Host):
        async def sample(self, context, params):
            file.unlink(missing_ok=True)
            return await super().sample(context, params)

    async with in_process("--root", file.parent, mode=mode, sampling_callback=Deleting().sample) as client:
        answer = await call(client, "score_server", catalog=file.name)
    assert (answer["scoredToolCount"], answer["server"]) == (1, "shop")


async def test_too_many_tools_are_refused_before_anybody_is_asked():
    host = Host()
    async with in_process(mode="auto", sampling_callback=host.sample) as client:
        tools = [tool(f"t{number}") for number in range(301)]
        result = await client.call_tool("score_server", {"catalog": tools, "judge": "sampling"})
    assert "301 tools are more than 300" in result.content[0].text
    assert host.asked == []


async def test_a_question_that_the_client_skips_is_not_put_again():
    async with in_process(mode="auto", sampling_callback=Host().sample) as client:
        arguments = {"catalog": [tool("good"), tool("skipped")], "judge": "sampling"}
        asked = await client.session.call_tool("score_server", arguments, allow_input_required=True)
        answered = {}
        for key, request in asked.input_requests.items():
            if tool_of(request.params.messages[0].content.text) != "skipped":
                answered[key] = await Host().sample(None, request.params)
        result = await client.session.call_tool(
            "score_server",
            arguments,
            input_responses=answered,
            request_state=asked.request_state,
            allow_input_required=True,
        )
    assert reasons(result.structured_content) == {"skipped": "⟦the client gave no answer: allow its sampling requests⟧"}


@pytest.mark.process
@pytest.mark.parametrize("mode", ERAS)
async def test_the_deprecation_of_sampling_is_nobody_s_noise(mode, tmp_path, caplog):
    from mcp.client.stdio import stdio_client  # noqa: PLC0415

    caplog.set_level(logging.WARNING)
    log = tmp_path / "stderr"
    with log.open("w+") as errors:
        parameters = StdioServerParameters(command=sys.executable, args=["-W", "always", "-m", "tdqs_mcp", "serve"])
        async with Client(
            stdio_client(parameters, errlog=errors), mode=mode, sampling_callback=Host().sample
        ) as client:
            await call(client, "score_tool_definition", definition=tool("good"))
    text = await anyio.Path(log).read_text()
    assert "eprecat" not in text


@pytest.mark.process
@pytest.mark.parametrize("mode", ERAS)
async def test_a_client_over_http_lends_its_model_too(mode):
    host = Host()
    with serving() as (url, _):
        async with Client(url, mode=mode, sampling_callback=host.sample) as client:
            answer = await call(client, "score_server", catalog=[tool("good"), tool("mended")])
    assert (answer["scoredToolCount"], answer["judge"]["model"]) == (2, "host-model-1")
    assert host.names() == ["(set)", "good", "mended", "mended"]


WORDED = {
    "purpose": "Finds the open orders of one customer, newest first.",
    "guidelines": "",
    "limitations": "An unknown customer gives an empty list.",
    "parameters": [],
    "examples": "",
}


async def worded(context, params):
    stage = "augment" if params.system_prompt.startswith("You rewrite") else "consolidate"
    answer = {"description": "Finds orders.", "parameters": []} if stage == "augment" else WORDED
    text = TextContent(type="text", text=json.dumps(answer))
    return CreateMessageResult(role="assistant", content=text, model="host-model-1", stop_reason="endTurn")


@pytest.mark.parametrize(("mode", "expected"), [("legacy", [(1, 1), (2, 2)]), ("auto", [])])
async def test_a_client_s_words_are_reported_as_they_come_and_never_twice(mode, expected):
    heard = []

    async def hear(progress, total, message):
        heard.append((progress, total))

    facts = [WORDED["purpose"], WORDED["limitations"]]
    arguments = {
        "catalog": tool("find_orders", "Finds orders."),
        "tool": "find_orders",
        "material": {"facts": facts},
        "writer": "sampling",
    }
    async with in_process(mode=mode, sampling_callback=worded) as client:
        await client.call_tool("suggest_rewrite", arguments, progress_callback=hear)
    assert heard == expected


@pytest.mark.parametrize("mode", ERAS)
async def test_the_client_s_model_words_a_rewrite_from_what_the_author_gives(mode, write):
    definition = tool("find_orders", "Finds orders.")
    facts = ["Finds the open orders of one customer, newest first", "An unknown customer gives an empty list."]
    material = {"facts": facts, "traces": [], "docs": "Orders are archived after a year."}
    path = write("tools.json", [definition])
    async with in_process("--root", path.parent, mode=mode, sampling_callback=worded) as client:

        async def drafted(**arguments):
            same = {"tool": "find_orders", "detail": "full"}
            return await client.call_tool("suggest_rewrite", same | arguments)

        plain = await drafted(catalog=definition, material=material)
        told = await drafted(catalog=str(path), material=material, writer="sampling")
        refused = await drafted(catalog=definition, writer="sampling")
        wrong = await drafted(catalog=definition, material={"traces": [{"arguments": {}}]})
    [offline], [draft], [plainer] = (each.structured_content["rewrites"] for each in (plain, told, refused))
    assert "fact 1" in json.dumps(offline["full"]["claims"])
    assert offline["full"]["writer"] == "offline"
    assert "it scores" in draft.get("setback", "it scores")
    assert plainer["full"]["writer"] == "host-model-1", "its words are kept, and marked where nothing bears them out"
    assert wrong.is_error
    assert "trace 1 must have arguments and either result or error" in wrong.content[0].text


# The person behind the client


FORM = "What the tool definitions do not say"
ORDER = tool("get_order", "Gets one order.", flat(1))


@pytest.mark.parametrize("mode", ERAS)
async def test_a_client_with_forms_asks_its_user_once_and_the_answers_are_written(mode):
    forms = []

    async def fill(context, params):
        forms.append(params)
        answers = dict.fromkeys(params.requested_schema["properties"], "")
        return ElicitResult(action="accept", content=answers | {"get_order.returns": "the order with its lines"})

    async with in_process(mode=mode, elicitation_callback=fill) as client:
        draft = (await client.call_tool("suggest_rewrite", {"catalog": [ORDER]})).structured_content
        await client.call_tool("suggest_rewrite", {"catalog": [ORDER]})
    [form] = forms
    assert form.message.startswith(FORM)
    assert 1 < len(form.requested_schema["properties"]) <= 5
    [line] = draft["rewrites"]
    assert "Returns the order with its lines." in line["changes"][0]["new"]
    assert "get_order.returns" not in [each["id"] for each in draft["questions"]]


@pytest.mark.parametrize("mode", ERAS)
async def test_a_user_who_declines_costs_nothing_and_who_brings_words_is_not_asked(mode):
    forms = []

    async def decline(context, params):
        forms.append(params)
        return ElicitResult(action="decline")

    async with in_process(mode=mode, elicitation_callback=decline) as client:
        words = {"get_order": {"description": "Gets one order of a customer by its ID."}}
        await client.call_tool("suggest_rewrite", {"catalog": [ORDER], "draft": words})
        assert forms == []
        draft = (await client.call_tool("suggest_rewrite", {"catalog": [ORDER]})).structured_content
    assert len(forms) == 1
    assert draft["questions"]


async def test_a_client_hears_that_a_call_goes_on_while_its_model_thinks(monkeypatch):
    monkeypatch.setattr(connected_client, "BEAT_SECONDS", 0.01)
    heard, third = [], anyio.Event()

    async def hear(progress, total, message):
        heard.append(progress)
        if len(heard) == 3:
            third.set()

    async def think(context, params):
        await third.wait()
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text=GOOD), model="m")

    async with in_process(mode="legacy", sampling_callback=think) as client:
        arguments = {"definition": tool("good"), "judge": "sampling"}
        answer = await client.call_tool("score_tool_definition", arguments, progress_callback=hear)
    assert answer.structured_content["tdqs"] == 2.7
    assert heard == sorted(set(heard)), "it only ever grows"
    assert heard[0] < 1 <= heard[-1]


async def test_a_client_hears_that_a_call_goes_on_while_a_person_fills_in_a_form(monkeypatch):
    monkeypatch.setattr(connected_client, "BEAT_SECONDS", 0.01)
    heard, asked, more = [], [], anyio.Event()

    async def hear(progress, total, message):
        heard.append(progress)
        if asked and len(heard) >= asked[0] + 2:
            more.set()

    async def fill(context, params):
        asked.append(len(heard))
        with anyio.fail_after(10):
            await more.wait()
        return ElicitResult(action="accept", content={"get_order.returns": "the order with its lines"})

    async with in_process(mode="legacy", elicitation_callback=fill) as client:
        result = await client.call_tool("suggest_rewrite", {"catalog": [ORDER]}, progress_callback=hear)
    assert "Returns the order with its lines." in result.content[0].text
    assert heard == sorted(set(heard)), "it only ever grows, with the second rewrite too"
