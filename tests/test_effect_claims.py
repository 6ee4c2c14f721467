"""Hints against what a definition says elsewhere: its name, sentences, choices and places to write to."""

import pytest
from definitions import tool

from tdqs_mcp.app import catalogs, linting
from tdqs_mcp.app.linting import Policy
from tdqs_mcp.rules import registry

WRITES = [
    ("fetch_page", "Fetches a page and saves it to disk."),
    ("fetch_page", "Fetch a page and save it to the given folder."),
    ("render_chart", "Renders a chart. The image is written to `output_path`."),
    ("render_chart", "Renders a chart and writes the file."),
    ("sync_orders", "Compares two lists. It then deletes the old entries."),
    ("check_berth", "Checks a berth. Expired bookings are removed automatically."),
    ("check_berth", "Checks a berth. This action cannot be undone."),
    ("list_orders", "Lists orders; the tool will also update the stock."),
    ("get_report", "Gets a report. If the file exists, it is overwritten."),
    ("add_label", "Adds a label to an order."),
    ("approve_order", "Approve an order."),
    ("order_cancel", "Cancels an order."),
    ("send_mail", "Sends a mail to the harbor master."),
    ("edit_note", "Edit the text of a note."),
    ("delete_order", "The order with this number."),
    ("create_contact", "Add a contact to the book."),
    ("sync_orders", "Care: data is changed. Note: This tool modifies customer data."),
    ("mark_read", "Reads the inbox and marks every message as read."),
    ("export_orders", "Exports all orders to a CSV file in the working directory."),
    ("ship", "Deploys the app to production."),
    ("write_log", "Writes to a file."),
    ("post_updates", "Posts updates to the board of a harbor."),
    ("run_command", "Run any shell command on the host."),
    ("run_sql", "Execute a SQL statement, including INSERT and DELETE, on the ledger."),
    ("restart_crane", "Restart the crane."),
    ("press_button", "Press a button of the crane."),
    ("check_crane", "Checks the crane, then triggers a new round."),
    ("get_manifest", "Downloads the manifest to a local path."),
    ("convert_note", "Converts the note and stores the result in the harbor folder."),
]

READS = [
    ("find_orders", "Replaces the manual chain of list_orders and get_order calls."),
    ("list_filters", "Lists filters. Filters are saved custom views."),
    ("list_orders", "Lists orders that were deleted or updated today."),
    ("list_orders", "Lists orders. It does not modify anything."),
    ("list_orders", "Lists orders. Use it before deleting one."),
    ("list_orders", "Lists orders. Never deletes the original."),
    ("get_prices", "Gets prices. The data is updated daily by the exchange."),
    ("get_prices", "Gets prices. It sends a request to the exchange."),
    ("clean_text", "Removes duplicates from the list and returns it."),
    ("add", "Adds two numbers."),
    ("start_search", "Start a search of the log that returns results bit by bit."),
    ("run_sql", "Run a query. INSERT and DELETE are refused."),
    ("get_form", "Get a form with its address and the tags it applies to contacts."),
    ("get_saved_views", "Returns the views. Each has a name that is stored in lower case."),
    ("get_order", "Gets an order. An order can be deleted with another tool."),
    ("get_order", "Gets an order. If it was removed, the answer is empty."),
    ("preview_change", "Shows what would change. Nothing is written."),
    ("get_update", "Gets the latest update. Save time with it."),
    ("list_orders", "Lists orders. Support data is fresh: an entry is only published for months that have ended."),
    ("check_order", "Checks an order. This is a non-destructive operation."),
    ("list_commits", "Commits of a berth, newest first, with author and date."),
    ("berth_updates", "Updates to a berth since a day, with their dates."),
    ("table_triggers", "Triggers of a table, with name and event."),
    ("get_voices", "Gets voices and, if the\n        berth's bridge is installed, its presets."),
]


def fired(rule, name, description, properties=None, **hints):
    schema = {"type": "object", "properties": properties or {}}
    catalog = catalogs.read({"tools": [tool(name, description, schema, annotations=hints)]})
    return [str(f.severity) for f in linting.lint(catalog, Policy(selection=registry.select(names=[rule]))).findings]


@pytest.mark.parametrize(("name", "description"), WRITES)
def test_a_write_contradicts_a_read_only_hint(name, description):
    assert fired("TDQ228", name, description, readOnlyHint=True) == ["warning"]
    assert fired("TDQ228", name, description, readOnlyHint=False) == []


@pytest.mark.parametrize(("name", "description"), READS)
def test_words_of_writing_that_promise_none_contradict_nothing(name, description):
    assert fired("TDQ228", name, description, readOnlyHint=True) == []


@pytest.mark.parametrize(
    ("name", "description", "expected"),
    [
        ("upsert_row", "Insert or update a row.", ["info"]),
        ("get_folder", "Return the folder; it is created when missing.", ["info"]),
        ("get_folder", "Return the folder. It is created if it does not exist.", ["info"]),
        ("get_folder", "Return the folder. It is created when the harbor opens.", []),
    ],
)
def test_a_write_that_a_pure_function_may_share_is_an_info(name, description, expected):
    assert fired("TDQ228", name, description, readOnlyHint=True) == expected


@pytest.mark.parametrize(
    ("name", "description", "expected"),
    [
        ("log_entry", "Appends a line to the log.", ["info"]),
        ("add_berth", "Creates a berth.", ["info"]),
        ("add_berth", "Creates or updates a berth.", []),
        ("archive_note", "Sends a note to the archive.", []),
    ],
)
def test_an_addition_that_only_the_text_tells_contradicts_a_hint_that_a_second_call_changes_nothing(
    name, description, expected
):
    assert fired("TDQ241", name, description, readOnlyHint=False, idempotentHint=True) == expected


@pytest.mark.parametrize(
    ("name", "schema", "severity"),
    [
        ("action", {"enum": ["list", "delete"]}, "warning"),
        ("operation", {"enum": ["get", "set"]}, "warning"),
        ("action", {"anyOf": [{"const": "list"}, {"const": "delete"}]}, "warning"),
        ("ops", {"type": "array", "items": {"enum": ["get", "remove"]}}, "warning"),
        ("save_to", {"type": "string"}, "info"),
        ("target", {"type": "string", "description": "Path of the file to write to"}, "info"),
    ],
)
def test_a_parameter_that_chooses_a_write_contradicts_it_too(name, schema, severity):
    assert fired("TDQ228", "orders", "The orders of a day.", {name: schema}, readOnlyHint=True) == [severity]


def test_a_method_is_one_of_the_call_where_a_request_is_sent_and_not_made():
    methods = {"method": {"enum": ["GET", "DELETE"]}}
    assert fired("TDQ228", "call_harbor", "Send a request to the harbor.", methods, readOnlyHint=True) == ["warning"]
    assert fired("TDQ240", "record_request", "Create a request.", methods, readOnlyHint=False) == []


def test_actions_of_a_tool_that_lists_are_a_filter():
    actions = {"action": {"enum": ["create", "delete"], "description": "Only entries of this action."}}
    assert fired("TDQ228", "list_entries", "List the entries of a day.", actions, readOnlyHint=True) == []
    assert fired("TDQ228", "entries", "List, create or delete entries.", actions, readOnlyHint=True) == ["warning"]


VERBS = (
    "wipe purge erase reset drop truncate clear delete remove destroy uninstall terminate revoke cancel kill".split()
)


@pytest.mark.parametrize("verb", VERBS)
def test_each_rule_about_hints_knows_each_verb_of_deletion(verb):
    name, text, archive = f"{verb}_archive", f"{verb.title()} the archive of a project.", {"project_id": {}}
    assert fired("TDQ228", name, text, archive, readOnlyHint=True) == ["warning"]
    assert fired("TDQ240", name, text, archive, readOnlyHint=False, destructiveHint=False) == ["warning"]
    schema = {"type": "object", "properties": archive, "required": ["project_id"]}
    policy = Policy(selection=registry.select(names=["TDQ107"]))
    is_lost = verb != "cancel"  # what ends may stay on record
    assert len(linting.lint(catalogs.read([tool(name, text, schema)]), policy).findings) == is_lost


def test_what_only_an_optional_parameter_does_is_told_apart():
    text = "List the orders of a day. Only if save_to is given, it saves the list to disk."
    assert fired("TDQ228", "list_orders", text, {"save_to": {}}, readOnlyHint=True) == ["info"]


@pytest.mark.parametrize(
    ("name", "description", "properties"),
    [
        ("remove_background", "Remove the background of a picture.", {"image": {"type": "string"}}),
        ("remove_member", "Remove a member from a group.", {"member_id": {"type": "string"}}),
        ("archive_order", "Archive an order.", {"order_id": {"type": "string"}}),
    ],
)
def test_what_loses_nothing_needs_no_word_about_a_loss(name, description, properties):
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    policy = Policy(selection=registry.select(names=["TDQ107"]))
    assert not linting.lint(catalogs.read([tool(name, description, schema)]), policy).findings


@pytest.mark.parametrize(
    ("name", "description", "rules"),
    [
        ("stage_change", "Stage a schema change to be applied later.", []),
        ("manage_tables", "Manage the tables of a database.", ["warning"]),
        ("stage_change", "Changes of a schema.", ["warning"]),
    ],
)
def test_a_tool_that_says_what_it_does_itself_does_none_of_the_changes_that_it_takes(name, description, rules):
    properties = {"operation": {"enum": ["CREATE_TABLE", "DROP_TABLE"]}}
    assert fired("TDQ240", name, description, properties, readOnlyHint=False, destructiveHint=False) == rules


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("action", {"enum": ["list", "get"]}),
        ("output", {"enum": ["json", "yaml"]}),
        ("path", {"type": "string", "description": "Path of the file to read"}),
        ("sort", {"enum": ["created", "updated"]}),
    ],
)
def test_a_parameter_that_chooses_what_is_read_does_not(name, schema):
    assert fired("TDQ228", "orders", "The orders of a day.", {name: schema}, readOnlyHint=True) == []


@pytest.mark.parametrize(
    ("name", "description", "properties"),
    [
        ("store_note", "Stores a note. An existing file is overwritten.", {}),
        ("store_note", "Stores a note and overwrites the old one; this cannot be undone.", {}),
        ("remove_label", "Remove a label from an order.", {}),
        ("delete_line", "Edits a file by a delete of the line.", {}),
        ("empty_bin", "Permanently deletes all notes of the bin.", {}),
        ("notes", "Works with notes.", {"action": {"enum": ["create", "remove"]}}),
        ("search_and_replace", "Search for text and replace all occurrences.", {}),
        ("restore_notes", "Restores all notes. Destructive operation!", {}),
    ],
)
def test_a_loss_contradicts_a_hint_that_nothing_is_destroyed(name, description, properties):
    hints = {"readOnlyHint": False, "destructiveHint": False}
    assert fired("TDQ240", name, description, properties, **hints) == ["warning"]
    assert fired("TDQ240", name, description, properties, **hints | {"destructiveHint": True}) == []


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("store_note", "Stores a note. An existing file is never overwritten."),
        ("store_note", "Stores a note. Delete it with another tool."),
        ("add_label", "Adds a label to an order, unless it was deleted."),
        ("send_mail", "Sends a mail. Mails cannot be longer than a page."),
        ("clear_title", "Adds a clear title to a note."),
        ("drop_in", "Add a drop-in class to the plan."),
        ("add_empty_line", "Adds an empty line to a note."),
    ],
)
def test_an_addition_contradicts_no_such_hint(name, description):
    assert fired("TDQ240", name, description, readOnlyHint=False, destructiveHint=False) == []


def test_tools_that_begin_with_the_same_sentence_cannot_have_opposite_hints():
    text = "Materializes the view of a berth."
    tools = [
        tool("refresh", f"{text} Takes a minute.", annotations={"readOnlyHint": False, "destructiveHint": True}),
        tool("refresh_all", text, annotations={"readOnlyHint": False, "destructiveHint": False}),
        tool("peek", text, annotations={"readOnlyHint": True}),
        tool("other", "Materializes another view of a berth.", annotations={"readOnlyHint": True}),
    ]
    policy = Policy(selection=registry.select(names=["TDQ227"]))
    findings = linting.lint(catalogs.read({"tools": tools}), policy).findings
    assert [(finding.subject.name, finding.path) for finding in findings] == [
        ("refresh_all", "/annotations/destructiveHint"),
        ("peek", "/annotations/readOnlyHint"),
    ]


@pytest.mark.parametrize(
    ("description", "labels", "is_found"),
    [
        ("Update a ticket of the depot", {"description": "Labels of the ticket"}, True),
        ("Update a ticket of the depot", {"description": "Labels that replace the ticket's"}, False),
        ("Update a ticket; lists replace what is there", {"description": "Labels of the ticket"}, False),
        ("Update a ticket of the depot", {"description": "Labels of the ticket", "type": "string"}, False),
        ("Get a ticket of the depot", {"description": "Labels of the ticket"}, False),
    ],
)
def test_an_update_of_which_nothing_says_what_becomes_of_a_list_is_named(description, labels, is_found):
    properties = {"labels": {"type": "array", "items": {"type": "string"}} | labels}
    name = f"{description.split()[0].lower()}_ticket"
    assert ("warning" in fired("TDQ107", name, description, properties, destructiveHint=False)) is is_found
