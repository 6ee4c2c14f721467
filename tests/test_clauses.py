"""What a name's words are in a sentence: with the articles that names leave out, and none where none belongs."""

import pytest

from tdqs_mcp.facts.text.words import is_natural, to_clause
from tdqs_mcp.facts.toolset import names


@pytest.mark.parametrize(
    ("phrase", "said"),
    [
        ("create board", "create a board"),
        ("add tag to task", "add a tag to a task"),
        ("get comments for paragraph", "get comments for a paragraph"),
        ("find text in document", "find text in a document"),
        ("get item", "get an item"),
        ("get hour", "get an hour"),
        ("get user", "get a user"),
        ("get one-time code", "get one-time code"),
        ("update url", "update a URL"),
        ("get html", "get HTML"),
        ("get api key", "get an API key"),
        ("get SQL result", "get an SQL result"),
        ("get AHO run", "get an AHO run"),
        ("get r2 object", "get an r2 object"),
        ("get Excel table", "get an Excel table"),
        ("get access", "get access"),
        ("get address", "get an address"),
        ("mark watching as read", "mark watching as read"),
        ("create or update file", "create or update file"),
        ("get status", "get the status"),
        ("get active board", "get the active board"),
        ("set table width", "set the table width"),
        ("get my profile", "get my profile"),
        ("list calendar view", "list calendar view"),
        ("search batch in folder", "search batch in a folder"),
        ("list endpoints by platform application", "list endpoints by platform application"),
        ("add footnote robust", "add footnote robust"),
        ("merge", "merge"),
    ],
)
def test_a_name_is_said_as_people_say_it(phrase, said):
    assert to_clause(phrase) == said


@pytest.mark.parametrize(
    ("name", "others", "nearest"),
    [
        ("queue_send_message", ["queue_create", "queue_send_batch"], ["queue_send_batch", "queue_create"]),
        ("set_text_style", ["set_active_board", "set_cell_style"], ["set_cell_style"]),
        ("connect_account", ["restart_sync", "reconnect_account"], ["reconnect_account"]),
        ("create_section", ["add_task_to_section", "update_section"], ["update_section"]),
        ("get_user_posts", ["get_user_roles", "get_post"], ["get_post"]),
        ("insert_many", ["update_many", "delete_many"], []),
        ("fetch_orders", ["good_orders", "fetch_order"], ["fetch_order"]),
    ],
)
def test_the_same_verb_or_the_same_thing_makes_a_sibling_a_choice(name, others, nearest):
    labels = names.read_names([name, *others])
    assert list(names.NameNeighbors(labels).nearest(name, 2)) == nearest


def test_a_description_tells_that_a_name_opens_with_a_verb():
    merge = "merge_table_cells"
    assert names.read_names([merge])[merge].verb is None
    assert names.read_names([merge], {merge: "merge"})[merge].verb == "merge"
    assert names.read_names([merge], {merge: "join"})[merge].verb is None


def test_a_search_engine_is_no_order_to_search():
    assert names.read_names(["search_engine_batch"])["search_engine_batch"].verb is None


@pytest.mark.parametrize(("phrase", "natural"), [("add footnote robust", False), ("add robust footnote", True)])
def test_an_adjective_behind_its_noun_is_no_phrase(phrase, natural):
    assert is_natural(phrase) is natural
