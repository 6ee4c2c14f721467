"""Which tools of a catalog say the same, and what that and the rest of the set make of its coherence facts."""

import pytest
from definitions import flat, takes, tool

from tdqs_mcp.app import catalogs, linting
from tdqs_mcp.app.linting import Policy
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.facts.toolset.relations import find_overlaps
from tdqs_mcp.model import Catalog, read_tools
from tdqs_mcp.rules import registry

TEMPLATE = "Gets the {} of an order from the shop."


def measured(*tools):
    return measure(Catalog(server="shop", tools=read_tools(list(tools))))


def overlaps(*tools):
    return [(pair.first, pair.second, pair.kind) for pair in measured(*tools).overlaps]


def pair(first, said, second, also_said, *schema):
    answers = tool("ping", "Checks that the shop answers.")
    return overlaps(tool(first, said, *schema), tool(second, also_said, *schema), answers)


def names_of(pairs):
    return [(pair.first, pair.second) for pair in pairs]


@pytest.mark.parametrize(
    ("first", "said", "second", "also_said"),
    [
        ("get_user", "Gets one user.", "fetch_user", "Retrieves a user from the server."),
        (
            "get_weather",
            "Get the current weather for a city.",
            "fetch_weather_data",
            "Fetch current weather for a city.",
        ),
        ("search_documents", "Searches documents for a phrase.", "find_docs", "Finds documents that match a phrase."),
        ("list_orders", "Lists the orders of a shop.", "get_all_orders", "Returns all orders of the shop."),
        ("delete_folder", "Deletes a folder and its files.", "remove_directory", "Removes a directory with its files."),
        ("create_issue", "Creates an issue.", "create_issue_v2", "Creates a new issue in a project."),
        ("get_issue", "", "read_issue", "Reads one issue."),
        (
            "get_weather",
            "Get the current weather for a city.",
            "weather_lookup",
            "Look up current weather conditions in a city.",
        ),
        ("create_ticket", "Create a support ticket.", "new_ticket", "Open a new support ticket."),
        ("inspect_results", "Examines the results of a scan.", "analyze_results", "Analyzes the results of a scan."),
    ],
)
def test_tools_that_say_the_same_in_other_words_overlap(first, said, second, also_said):
    assert pair(first, said, second, also_said) == [(first, second, "purpose")]


@pytest.mark.parametrize(
    ("first", "said", "second", "also_said", "parameters"),
    [
        ("download_file", "Downloads a file.", "fetch_file", "Fetches a file from a URL.", ["url"]),
        ("edit_page", "Changes the content of a page.", "modify_page", "Modifies a page.", ["page_id", "content"]),
    ],
)
def test_tools_that_take_the_same_overlap_where_authors_say_one_verb_for_the_other(
    first, said, second, also_said, parameters
):
    """A page is no scope of its content where both names have the page."""
    assert pair(first, said, second, also_said, takes(*parameters)) == [(first, second, "purpose")]
    assert pair("lock_page", "Locks a page.", "unlock_page", "Unlocks a page.", takes("page_id")) == []
    assert pair("write_file", "Writes a file.", "append_file", "Appends to a file.", takes("path", "text")) == []


@pytest.mark.parametrize(
    ("first", "said", "second", "also_said"),
    [
        # another thing, another verb, one or many, another scope
        ("get_issue", "Get details of a specific issue.", "get_commit", "Get details of a specific commit."),
        ("add_label", "Adds a label to an issue.", "remove_label", "Removes a label from an issue."),
        ("get_order", "Gets an order.", "list_orders", "Lists orders."),
        ("list_orders", "Lists orders.", "list_open_orders", "Lists orders that are open."),
        ("zones_get", "Get details about a zone.", "zones_list", "List all zones."),
        ("zones_list", "List all zones in your account", "zones_get", "Get details about a specific zone"),
        ("list_comments", "Lists all comments of a file.", "list_comments_by_author", "Lists comments of an author."),
        # one word is put in place of another
        ("bill_graph", "Get the bill graph image.", "bill_graph_data", "Get the bill graph data."),
        ("add_note_after_text", "Adds a note after a text.", "add_note_before_text", "Adds a note before a text."),
        # thing and scope change places
        ("get_tags_for_task", "Get a task's tags.", "get_tasks_for_tag", "Get tasks for a specific tag."),
        ("add_card_to_list", "Adds a card to a list.", "add_list_to_board", "Adds a list to a board."),
    ],
)
def test_tools_that_differ_in_thing_verb_number_or_scope_do_not(first, said, second, also_said):
    assert pair(first, said, second, also_said) == []


def test_one_call_and_one_thing_are_one_job_whatever_the_sentences_say_besides():
    """What a tool takes tells less of it than its name: words of parameters do not count."""
    query, text = takes("query", "limit"), takes("text", "limit")
    tools = [
        tool("find_documents", "Search documents by a query and return the matches.", query),
        tool("lookup_documents", "Looks up documents matching the given text.", text),
        tool("remove_user", "Delete a user account.", takes("user_id")),
        tool("delete_user", "Remove a user from the system.", takes("user_id")),
        tool("send_email", "Send an email to a recipient.", takes("to")),
        tool("dispatch_email", "Dispatches an email to the given address.", takes("to")),
    ]
    pairs = measured(*tools).pairs
    assert names_of(pairs) == [tuple(each["name"] for each in tools[place : place + 2]) for place in (0, 2, 4)]
    assert [pair.shared[0] for pair in pairs] == ["find/lookup", "remove/delete", "send/dispatch"]
    assert pairs[0].words == "both find/lookup, documents, matches; only lookup_documents: text"


@pytest.mark.parametrize(
    ("first", "said", "second", "also_said", "taken"),
    [
        ("do_get_object", "Get a Durable Object.", "do_delete_object", "Delete a Durable Object.", ("id",)),
        ("accept_invitation", "Accept a request.", "decline_invitation", "Decline a request.", ("id",)),
        ("page_click", "Click an element on the page.", "page_hover", "Hover an element on the page.", ("selector",)),
        ("update_table", "Update a table's name.", "update_field", "Update a field's name.", ("table_id", "name")),
    ],
)
def test_tools_whose_verbs_or_things_differ_are_no_pair_whatever_they_take(first, said, second, also_said, taken):
    assert pair(first, said, second, also_said, takes(*taken)) == []


def test_one_sentence_and_one_call_are_one_job_whatever_the_names_verbs():
    def tools(said, **also):
        recommended = tool("recommend", "Gets recommendations for a page.", takes("url"))
        return overlaps(recommended, tool("get_recommend", said, takes("url", **also)), tool("ping", "Answers."))

    assert tools("Returns recommendations for the specified page.") == [("recommend", "get_recommend", "purpose")]
    assert tools("Returns recommendations for the specified page.", limit={"type": "integer"}) == []
    assert tools("Deletes recommendations for a page.") == []


def test_tools_that_point_to_each_other_are_told_apart():
    said = "Gets one user. Use `fetch_user` for users of other shops."
    assert pair("get_user", said, "fetch_user", "Gets one user.") == []


def test_equal_texts_are_copies_unless_they_are_too_short():
    said = "Draws a chart of the values."
    assert pair("bar", said, "line", said) == [("bar", "line", "definition")]
    one, other = tool("bar", said, flat(1)), tool("line", said, flat(2))
    assert overlaps(one, other) == [("bar", "line", "description")]
    assert pair("bar", "Draws it.", "line", "Draws it.") == []


def test_a_banner_on_every_tool_makes_none_a_copy_of_another():
    banner = "Only use it when the user has asked to change the records."
    names = ["create_ticket", "update_contact", "delete_deal", "merge_company"]
    tools = [tool(name, f"{banner} {name.replace('_', 's a ')}.") for name in names]
    assert overlaps(*tools) == []


def test_one_tool_with_and_without_the_name_of_its_product_is_found_on_half_of_a_server():
    names = ["get_summary", "get_links", "search_articles"]
    tools = [tool(name, f"Does {name} for one article.") for name in names]
    twins = [{**each, "name": f"wiki_{each['name']}"} for each in tools]
    assert overlaps(*tools, *twins) == [(name, f"wiki_{name}", "definition") for name in names]


def test_three_tools_that_do_the_same_are_all_overlapping():
    names = ["get_weather", "fetch_weather", "retrieve_weather_data"]
    tools = measured(*(tool(name, f"{name.split('_')[0].title()} the weather of a city.") for name in names)).tool_set()
    assert tools.alike == 3
    assert set(names) == {name for pair in names_of(tools.same) for name in pair}


def test_two_tools_of_one_name_are_a_pair_that_nothing_tells_apart():
    tools = measured(tool("get_user", "Gets a user."), tool("get_user", "Reads a profile."), tool("ping")).tool_set()
    assert (names_of(tools.same), tools.alike) == ([("get_user", "get_user")], 2)


def test_getting_and_listing_is_not_the_same_where_the_texts_or_the_numbers_differ():
    build = takes("project", "build_name")
    own = "Get the build ID for a given project and build name, scoped to the builds of the current user."
    latest = "Get the latest build ID for a project and build name, across everybody (no filter)."
    assert not pair("get_build_id", own, "list_build_id", latest, build)
    assert pair("get_build_id", "Get a build ID.", "list_build_id", "Get the build ID.", build)
    batch = tool("get_sample_batch", "Get details of a specific sample batch.", takes("batch_id"))
    batches = tool("list_sample_batches", "List sample batches.", takes("status", "page"))
    assert not overlaps(batch, batches, tool("ping", "Checks that the shop answers."))


def test_tools_that_say_nothing_are_pairs_and_a_described_one_is_not():
    tools = measured(tool("run"), tool("process", "Process."), tool("do_thing", "Waters the plants.")).tool_set()
    assert (tools.vague, names_of(tools.same)) == (("run", "process", "do_thing"), [("run", "process")])


def test_tools_that_share_words_and_parameters_are_variants_unless_a_text_points_to_the_other():
    cells = takes("sheet", "address")
    used = "Reads the cells of a used range"
    silent = [
        tool("get_range", "Reads the cells of a range.", cells),
        tool("get_used_range", f"{used}.", cells),
        tool("delete_range", "Deletes the cells of a range.", cells),  # another effect
        tool("get_range_tags", "Reads the cells of a range of tags.", takes("tag")),  # other parameters
    ]
    pointed = [silent[0], tool("get_used_range", f"{used}; for an address use get_range.", cells), *silent[2:]]
    assert names_of(measured(*silent).tool_set().variants) == [("get_range", "get_used_range")]
    assert measured(*pointed).tool_set().variants == ()


@pytest.mark.parametrize(
    ("first", "said", "second", "also_said", "is_reported"),
    [
        ("get_note", "Get a note.", "get_note_raw", "Get a note from the store.", True),
        ("search", "Search the web.", "search_pro", "Search the web for pages.", True),
        ("get_item", "Return an item with all of its fields.", "get_raw_item", "Return an item with its fields.", True),
        ("get_note", "Get a note.", "get_note_raw", "Get the raw text of a note.", False),
        ("get_note", "Get a note.", "get_note_raw", "Get a note from the store, without any markup.", False),
        ("get_note", "Get a note.", "get_note_tags", "List the tags of a note.", False),
    ],
)
def test_names_that_differ_by_a_word_that_no_text_explains_are_reported(first, said, second, also_said, is_reported):
    catalog = catalogs.read([tool(first, said, takes("id")), tool(second, also_said, takes("id"))])
    findings = linting.lint(catalog, Policy(selection=registry.select(names=["TDQ303"]))).findings
    assert [finding.subject.name for finding in findings] == [second] * is_reported


def test_tools_that_differ_on_both_sides_are_no_variants():
    posts = [
        tool(f"get_{site}_posts", f"Reads posts from {site} by URL.", takes("url")) for site in ("reddit", "quora")
    ]
    assert measured(*posts).tool_set().variants == ()


@pytest.mark.parametrize(
    ("names", "off"),
    [
        ("reboot_host optimize_index get_host list_hosts", ()),  # verbs that are no nouns
        ("screen_stocks rebase_branch get_host list_hosts create_host", ()),  # a noun as well, or in no dictionary
        ("user_accounts get_host list_hosts create_host", ("user_accounts",)),
        ("host_delete host_create user_list get_host", ("get_host",)),
        ("user_accounts get_host", ()),  # no pattern is more frequent
        ("pass_pipeline_validate get_host list_hosts create_host", ()),  # pass may be its verb
    ],
)
def test_only_names_that_surely_begin_with_another_part_of_speech_break_the_pattern(names, off):
    assert measured(*(tool(name) for name in names.split())).tool_set().off_pattern == off


def test_a_lifecycle_is_complete_only_where_each_verb_is_about_the_same_thing():
    verbs = ["create", "get", "update", "delete"]
    whole = measured(*(tool(f"{verb}_list", f"{verb.title()}s a list.") for verb in verbs)).tool_set()
    assert (whole.complete, whole.unread, whole.unchanged) == (("create_list",), (), ())
    names = ["create_list", "get_list", "update_list_position", "delete_list_entry"]
    parts = measured(*(tool(name, f"{name.replace('_', 's a ', 1)}.") for name in names)).tool_set()
    # its entries can be deleted, and a sentence speaks of the list
    assert (parts.complete, parts.unread, parts.unchanged) == ((), (), ())


def test_a_name_is_a_single_word_beside_a_prefix_that_most_names_share():
    names = ["item_lookup", "item_delete", "vault_list", "password_create", "note_create"]
    assert measured(*(tool(name) for name in names)).tool_set().one_word == ()
    names = ["acme_lookup", "acme_list_bills", "acme_get_bill", "help"]
    assert measured(*(tool(name) for name in names)).tool_set().one_word == ("acme_lookup", "help")


@pytest.mark.parametrize(
    ("names", "unread", "unchanged"),
    [
        ("create_queues search_bills delete_bills", ("create_queues",), ()),
        ("create_queues search_queues delete_bills", (), ("create_queues",)),
        ("create_repository get_repo archive_repository", (), ()),  # an archive may be a change
        ("create_pod get delete", (), ()),  # tools for all things
        ("send_message list_chats", (), ()),  # nothing says that it is kept
    ],
)
def test_what_is_created_lacks_only_what_no_tool_speaks_of(names, unread, unchanged):
    tools = measured(*(tool(name) for name in names.split())).tool_set()
    assert (tools.unread, tools.unchanged) == (unread, unchanged)


def test_verbs_that_mean_the_same_are_one_action():
    tools = measured(*(tool(name) for name in ("get_a1b", "fetch_b2c", "list_orders", "enumerate_bills"))).tool_set()
    assert tools.actions == 2


def catalog_of(count):
    verbs, things = ["get", "list", "create", "update", "delete"], ["order", "bill", "user", "label"]
    return measured(
        *(
            tool(f"{verbs[place % 5]}_{things[place % 4]}_{place // 4}", TEMPLATE.format(f"part {place}") * 3)
            for place in range(count)
        )
    )


def test_two_thousand_tools_take_little_more_than_four_times_as_long_as_five_hundred(compare_work):
    large, small = catalog_of(2000).purposes, catalog_of(500).purposes
    compare_work(lambda: find_overlaps(large), lambda: find_overlaps(small), at_most=6)


def test_a_tool_set_is_read_without_the_cues_of_its_tools(catalog):
    """A sweep reads every tool set that has changed again, and 99 of 100 of its tools have a verdict already."""
    measured = measure(catalog(*(tool(f"list_{word}", f"Use this to list {word}.") for word in ("cards", "loans"))))
    assert measured.tool_set().with_verb == ("list_cards", "list_loans")
    assert not any("cue_places" in vars(subject.prose) for subject in measured.subjects)
    assert all(subject.prose.cues for subject in measured.subjects)
