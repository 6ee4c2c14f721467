"""What earlier calls left: catalogs for paging, the callers' answers, reports to read."""

import hashlib

from tdqs_mcp.errors import InputError
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.report.documents import capture_document, json_text
from tdqs_mcp.results.labels import LabelScore
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.server.memory import Answers, Latest

MAX_CATALOGS = 16
MAX_REPORTS = 16


class Shelf:
    """One server's memory. Whoever may call the server shares it."""

    def __init__(self, answers: Answers) -> None:
        """Empty, but for the answers."""
        self.answers = answers
        self.catalogs: Latest[str, Catalog] = Latest(MAX_CATALOGS)
        self.reports: Latest[str, ServerScore | LabelScore] = Latest(MAX_REPORTS)

    def keep(self, catalog: Catalog) -> str:
        """The catalog's id, which is the same for the same definitions. Raises InputError."""
        try:
            text = json_text(capture_document(catalog))
        except RecursionError as error:
            raise InputError("the definitions nest too deep to be read; simplify the schema") from error
        key = hashlib.sha256(text.encode()).hexdigest()[:12]
        self.catalogs.put(key, catalog)
        return key

    def find(self, key: str) -> Catalog:
        """An earlier catalog. Raises InputError when it is not known any more."""
        found = self.catalogs.get(key)
        if found is None:
            raise InputError(
                f"there is no catalog {key!r} here (any more); send 'tools' or 'locator' again; answers "
                "that were accepted are still there"
            )
        return found
