"""Several servers are linted as one agent sees them."""

import json

from definitions import tool

from tdqs_mcp.app import linting
from tdqs_mcp.sources.files import read_catalog

HARBOR = [tool("search", "Searches berths."), tool("create_issue", "Create a new issue in a project.")]
LIBRARY = [tool("search", "Searches books."), tool("add_issue", "Creates a new issue in a project.")]


def together(**servers):
    catalogs = [read_catalog({"tools": tools}, name=name) for name, tools in servers.items()]
    return [
        {(finding.rule, finding.subject.name, finding.message) for finding in report.findings if finding.rule in RULES}
        for report in linting.lint_together(catalogs)
    ]


RULES = ("TDQ340", "TDQ341", "TDQ410")


def test_each_server_tells_what_it_shares_with_the_others():
    shared = "1 name is also used by {!r}: search"
    assert together(harbor=HARBOR, library=LIBRARY) == [
        {
            ("TDQ340", "", shared.format("library")),
            ("TDQ341", "create_issue", "the tool says the same as 'add_issue' of 'library'"),
        },
        {
            ("TDQ340", "", shared.format("harbor")),
            ("TDQ341", "add_issue", "the tool says the same as 'create_issue' of 'harbor'"),
        },
    ]


def test_a_server_alone_shares_nothing_and_is_linted_as_before():
    catalog = read_catalog({"tools": HARBOR}, name="harbor")
    assert [linting.fold(report, linting.DEFAULT_POLICY) for report in linting.lint_together([catalog])] == [
        linting.lint(catalog)
    ]


def test_a_copied_tool_is_told_by_what_was_copied():
    copy = [tool("make_issue", "Create a new issue in a project.")]
    assert together(harbor=HARBOR[1:], copy=copy)[1] == {
        ("TDQ341", "make_issue", "the tool has the same description and parameters as 'create_issue' of 'harbor'")
    }


def test_a_tool_that_names_its_product_is_not_reported_beside_one_that_does_not():
    named = [tool("add_issue", "Creates a new issue in a project. The library keeps it.")]
    assert together(harbor=HARBOR[1:], library=named) == [
        {("TDQ341", "create_issue", "the tool says the same as 'add_issue' of 'library'")},
        set(),
    ]


def test_the_command_lints_its_locators_together_and_goes_on_without_a_broken_one(command, write):
    first, broken, last = write("harbor.json", HARBOR), write("broken.json", "nothing"), write("library.json", LIBRARY)
    ran = command("lint", first, broken, last, "--format", "json", "--select", "TDQ340")
    assert ran.returncode == 2
    assert [
        (server["server"]["name"], finding["message"])
        for server in json.loads(ran.stdout)
        for finding in server["findings"]
    ] == [
        ("harbor", "1 name is also used by 'library': search"),
        ("library", "1 name is also used by 'harbor': search"),
    ]
