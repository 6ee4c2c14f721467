"""Which siblings a name leaves a choice between, and with which verb it opens."""

import pytest

from tdqs_mcp.facts.toolset import names


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
