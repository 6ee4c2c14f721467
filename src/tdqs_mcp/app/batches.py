"""All that catalogs have to ask in one batch: submitted now, collected when it has ended, at half the price."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tdqs_mcp.app.scoring import to_be_judged
from tdqs_mcp.errors import ContractError, InputError
from tdqs_mcp.judges.judge import Failure, Judge, Request, batching
from tdqs_mcp.model.catalog import Catalog

if TYPE_CHECKING:
    from tdqs_mcp.judges.prompted import Prompted


async def submit_batch(catalogs: Catalog | Sequence[Catalog], *, judge: Judge, rubric: str = "tdqs") -> str:
    """Submits what the judge has to be asked about these catalogs; gives back JSON to write down, for `collect_batch`.

    Asks for nothing whose answer is kept. The budget books the batch's own price, and where it has no room for all,
    nothing is submitted. Raises InputError, also where nothing is left to ask, and EndpointError.
    """
    from tdqs_mcp.judges.prompted import Batch  # noqa: PLC0415  # validation, which the offline judge goes without

    asked = _collecting(judge)
    requests = {each.key: each for each in _open(asked, catalogs, rubric=rubric)}
    if not requests:
        raise InputError("there is nothing to submit: every answer is kept, and scoring finds it")
    batch = await batching(asked.model).submit(list(requests.values()))
    return Batch.of(asked, batch=batch, rubric=rubric).model_dump_json()


async def collect_batch(batch: str, catalogs: Catalog | Sequence[Catalog], *, judge: Judge) -> list[str] | None:
    """Keeps the answers of a batch, so that scoring its catalogs by this judge asks only for what has none.

    Gives back a reason for each request without an answer that can be used; None while the batch is under way. Needs
    nothing but what was written down and the same definitions. Raises InputError and EndpointError.
    """
    from tdqs_mcp.judges.prompted import read_batch  # noqa: PLC0415

    asked = _collecting(judge)
    known = read_batch(batch, judge=asked)
    requests = _open(asked, catalogs, rubric=known.rubric)
    answers = await batching(asked.model).collect(known.id, requests) if requests else []
    if answers is None:
        return None
    faults = (_fault(request, answer) for request, answer in zip(requests, answers, strict=True))
    return [fault for fault in faults if fault is not None]


def _collecting(judge: Judge) -> "Prompted":
    """The judge, where it can keep answers that come later. Raises InputError."""
    from tdqs_mcp.judges.prompted import Prompted  # noqa: PLC0415

    if not isinstance(judge, Prompted):
        raise InputError("a batch is one model's: give the anthropic judge, alone and with one sample")
    if judge.cache is None:
        raise InputError("the answers of a batch are collected into the cache: set TDQS_CACHE to a folder")
    return judge


def _open(judge: "Prompted", catalogs: Catalog | Sequence[Catalog], *, rubric: str) -> list[Request]:
    listed = [catalogs] if isinstance(catalogs, Catalog) else catalogs
    return judge.open([case for catalog in listed for case in to_be_judged(catalog, rubric=rubric)])


def _fault(request: Request, answer: str | Failure) -> str | None:
    """Why an answer cannot be used; None where it is kept."""
    if isinstance(answer, Failure):
        return answer.reason
    try:
        request.check(answer)
    except ContractError as error:
        return f"the answer {error.fault}: {error}"
    return None
