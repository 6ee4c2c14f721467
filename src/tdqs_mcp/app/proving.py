"""Changes that have to be proven by requests: half of them leads a search, the other half is asked once at its end."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias

from tdqs_mcp.app.improving import rewrite
from tdqs_mcp.canonical import short_hash
from tdqs_mcp.errors import InputError, UnansweredError
from tdqs_mcp.facts.schema.signals import definition_tokens, estimate_tokens
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.facts.text.prose import sentences_of
from tdqs_mcp.facts.threats import first_aimed_at_model
from tdqs_mcp.facts.toolset.search import search_terms
from tdqs_mcp.judges.budget import ANSWER_TOKENS, Budget
from tdqs_mcp.judges.judge import Failure, Model, Usage, used
from tdqs_mcp.model import NOTHING, Catalog, Tool
from tdqs_mcp.results.checks import DEMANDS, Proof, ProofTrial, Query, QueryChoice, TrialKind
from tdqs_mcp.results.improvements import GROWTH, OFFLINE, Claim, Rewrite
from tdqs_mcp.results.tool_code import CodeReport
from tdqs_mcp.rewriting import model_writer, tool_selection
from tdqs_mcp.rewriting.code_statements import code_statements
from tdqs_mcp.rewriting.definition_parts import propose
from tdqs_mcp.rewriting.draft_checks import DraftChecker
from tdqs_mcp.rewriting.parting import parting_statements
from tdqs_mcp.rewriting.proposals import Statement, apply, apply_parts
from tdqs_mcp.rewriting.targets import undone
from tdqs_mcp.rewriting.tool_selection import AnswerSelector, Lexical, ModelSelector, Selector
from tdqs_mcp.rewriting.value_sources import borrowed_statements

WIDTH = 4
"""Versions that a round of the search tries."""

TRIES = 2
"""Requests that a text of a writer takes at most: the first and a correction."""

SEARCH_CHOICES = 20_000
"""Choices of a search that asks no model; a budget limits models alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edit:
    """A change to a tool: a whole definition, a statement more, or a sentence less."""

    trial: ProofTrial
    definition: Mapping[str, Any] | None = field(default=None, compare=False)
    statement: Statement | None = field(default=None, compare=False)

    @classmethod
    def of(
        cls, tool: Tool, kind: TrialKind, words: str, definition: Mapping[str, Any] | None = None, **source: Statement
    ) -> "_Edit":
        tokens = estimate_tokens(words) * (-1 if kind is TrialKind.CUT else 1)
        if definition is not None:
            tokens = definition_tokens(definition) - definition_tokens(tool.raw)
        sentence = words if definition is None else None
        trial = ProofTrial(index=tool.index, tool=tool.name, kind=kind, words=words, sentence=sentence, tokens=tokens)
        return cls(trial=trial, definition=definition, **source)

    def make(self, tool: Tool) -> Mapping[str, Any]:
        """Return the definition of the tool with the change."""
        if self.definition is not None:
            return self.definition
        if self.statement is not None:
            return apply_parts(tool, [self.statement])
        return {**tool.raw, "description": _without(tool.description or "", self.trial.words)}


_Version: TypeAlias = tuple[_Edit, ...]
"""A version of the catalog: the changes to it, in the order in which they are made."""

_Propose: TypeAlias = Callable[[_Version, Sequence[QueryChoice]], Awaitable[list[_Edit]]]
"""Changes that may help a version with the requests that it does not meet."""


def _edited(catalog: Catalog, version: _Version) -> Catalog:
    for edit in version:
        tool = catalog.tools[edit.trial.index]
        catalog = apply(catalog, {tool.index: edit.make(tool)})
    return catalog


def _with_edit(version: _Version, edit: _Edit) -> _Version:
    """The version with one more change; a whole definition takes the place of what was changed in its tool."""
    is_whole = edit.definition is not None
    return (*(old for old in version if not is_whole or old.trial.index != edit.trial.index), edit)


async def prove_rewrites(
    catalog: Catalog,
    rewrites: Sequence[Rewrite],
    *,
    queries: Sequence[Query],
    selector: Selector | None = None,
    budget: Budget = Budget(),  # noqa: B008  # frozen
    writer: Model | None = None,
    code: CodeReport | None = None,
) -> tuple[list[Rewrite], Proof]:
    """Keep the rewrites with which no tool is found worse, and search for statements with which tools are found better.

    Half of the requests leads the search; the other half is asked once, about the best version. A model, or an agent
    elsewhere, is asked about more than the rewrites only within a budget. Such an agent is asked in rounds:
    UnansweredError has the prompts of the next one. A `writer` reads the requests that fail and words definitions anew.
    Raises InputError.
    """
    experiment = _Experiment(catalog, queries, selector or Lexical(), budget, writer=writer, worded=len(rewrites))
    edits = [
        _Edit.of(catalog.tools[item.index], TrialKind.REWRITE, str(item.definition.get("description")), item.definition)
        for item in rewrites
        if item.changes
    ]
    search = _Candidates(catalog, {item.index for item in rewrites}, code=code, experiment=experiment)
    version, proof = await experiment.run(edits, search.propose)
    definitions = {tool.index: tool.raw for tool in _edited(catalog, version).tools}
    drafts = {
        item.name: definitions[item.index]
        for item in rewrites
        if definitions[item.index] not in (item.definition, item.original)
    }
    changed = await rewrite(catalog, drafts=drafts, code=code) if drafts else []
    claims = {item.index: list(item.claims) for item in rewrites}
    for edit in version:
        if edit.statement:
            claims[edit.trial.index].append(edit.statement.claim())
    by_index = {
        item.index: replace(item, claims=tuple(_with_source(claim, claims[item.index]) for claim in item.claims))
        for item in changed
    }
    reasons = {trial.index: trial.lost for trial in proof.trials if trial.lost and trial.kind is TrialKind.REWRITE}
    return [
        _finished(by_index.get(item.index, item), definitions[item.index], reasons.get(item.index), item.writer)
        for item in rewrites
    ], proof


def _with_source(claim: Claim, earlier: Sequence[Claim]) -> Claim:
    """The claim of a draft with the source that it had before, as a whole or as a part: one hint of `/annotations`."""
    if whole := next((own for own in earlier if own.text == claim.text), None):
        return whole
    part = next((own for own in earlier if claim.path.startswith(f"{own.path}/")), claim)
    return replace(claim, sources=part.sources, route=part.route)


def _finished(item: Rewrite, definition: Mapping[str, Any], why: str | None, writer: str) -> Rewrite:
    """The rewrite as the experiment leaves it; the offline writer's as long as every statement has its source."""
    if definition == item.definition:
        is_proven = all(claim.sources for claim in item.claims)
        return replace(item, writer=writer) if writer == OFFLINE and is_proven else item
    setback = f"a request finds its tool less often with it: {why!r}" if why else item.setback
    return replace(undone(item), setback=setback)


async def shorten(
    catalog: Catalog, *, queries: Sequence[Query], selector: Selector | None = None
) -> tuple[list[Rewrite], Proof]:
    """Take out the sentences without which every tool is found as well, proven like rewrites.

    The first sentence of a description stays, and so does a tool whose name another one has. Raises InputError for a
    selector that only ranks: it reads no warning and sets no argument.
    """
    if not isinstance(selector, ModelSelector | AnswerSelector):
        raise InputError(
            "a search heeds no warning and sets no argument: name a model that plans (--judge or --prompts)"
        )
    names = Counter(tool.name for tool in catalog.tools)
    edits = [
        _Edit.of(tool, TrialKind.CUT, words)
        for tool in catalog.tools
        if names[tool.name] == 1
        for words in dict.fromkeys(sentences_of(tool.description or "")[1:])
        if words in (tool.description or "")
    ]
    version, proof = await _Experiment(catalog, queries, selector, Budget()).run(edits)
    shorter = _edited(catalog, version)
    drafts = {tool.name: tool.raw for tool in shorter.tools if tool is not catalog.tools[tool.index]}
    return await rewrite(catalog, drafts=drafts) if drafts else [], proof


def _without(text: str, sentence: str) -> str:
    """The text without a sentence and without the space or the empty line that it leaves behind."""
    before, _, after = text.partition(sentence)
    if before.endswith("\n"):
        return f"{before}{after.lstrip()}".strip()
    gap = "" if after.startswith("\n") else " "
    return f"{before.rstrip(' ')}{gap}{after.lstrip(' ')}".strip()


class _Candidates:
    """Changes to the chosen tools that may part what is confused."""

    def __init__(
        self, catalog: Catalog, chosen: set[int], *, code: CodeReport | None, experiment: "_Experiment"
    ) -> None:
        self._catalog, self._experiment = catalog, experiment
        names = Counter(tool.name for tool in catalog.tools)
        self._measured = replace(measure(catalog), code=code)
        self._subjects = {
            subject.tool.name: subject
            for subject in self._measured.subjects
            if subject.tool.index in chosen and names[subject.tool.name] == 1
        }
        self._codes = {tool.name: tool for tool in code.tools} if code else {}
        self._reworded: dict[_Version, list[_Edit]] = {}
        borrowed = borrowed_statements(self._measured)
        self._statements = {name: list(borrowed.get(name, ())) for name in self._subjects}
        for proposal in propose(self._measured, growth=GROWTH):
            self._statements.get(proposal.subject.tool.name, []).extend(proposal.parts)
        for index, parts in code_statements(self._measured, growth=GROWTH).items():
            self._statements.get(catalog.tools[index].name, []).extend(parts)

    async def propose(self, version: _Version, choices: Sequence[QueryChoice]) -> list[_Edit]:
        """Return the model's words first, then statements and cuts, for the most confused tools first."""
        pairs = Counter(
            (choice.query.tool, other) for choice in choices if _fails(choice) for other in choice.instead or ("",)
        )
        most = [pair for pair, _ in pairs.most_common(WIDTH)]
        if version not in self._reworded and (writer := self._experiment.writer_for(len(most))):
            self._reworded[version] = await self._reword(version, choices, most, writer=writer)
        edits = list(self._reworded.get(version, ()))
        current = _edited(self._catalog, version)
        for pair, _ in pairs.most_common():
            tools = {name: current.tools[self._subjects[name].tool.index] for name in pair if name in self._subjects}
            for name, other in (pair, pair[::-1]):
                if name in tools:
                    edits += self._offline(tools[name], tools.get(other))
        return edits

    def _offline(self, tool: Tool, other: Tool | None) -> Iterator[_Edit]:
        """Yield what catalog and code prove of a tool, whatever a judge makes of it, and what was added and may go."""
        parting = parting_statements(tool, other, self._codes) if other else ()
        for statement in (*parting, *self._statements[tool.name]):
            if statement.has_words and not statement.splices:
                yield _Edit.of(tool, TrialKind.ADD, statement.claim().text, statement=statement)
        original = self._catalog.tools[tool.index].description or ""
        for sentence in sentences_of(tool.description or ""):
            if sentence not in original and sentence in (tool.description or ""):
                yield _Edit.of(tool, TrialKind.CUT, sentence)

    async def _reword(
        self, version: _Version, choices: Sequence[QueryChoice], pairs: Sequence[tuple[str, str]], *, writer: Model
    ) -> list[_Edit]:
        """The writer's descriptions, one for each pair; none of tools that address the model that reads them."""
        tools = {tool.name: tool for tool in _edited(self._catalog, version).tools}
        safe = {name for name, subject in self._subjects.items() if not first_aimed_at_model(subject.threats)}
        confusions = [
            model_writer.ConfusedTools(
                subjects=[self._subjects[name] for name in pair if name in safe],
                tools=[tools[name] for name in pair if name in safe],
                failing=[choice.query.text for choice in choices if choice.query.tool == pair[0] and _fails(choice)],
                succeeding=[
                    choice.query.text for choice in choices if choice.query.tool in pair and not _fails(choice)
                ],
            )
            for pair in pairs
            if pair[0] in safe
        ]
        checker = DraftChecker(self._measured, NOTHING)
        written = await model_writer.reword_confused(confusions, model=writer, checker=checker, growth=GROWTH)
        return [
            _Edit.of(self._subjects[name].tool, TrialKind.REWORD, str(definition["description"]), definition)
            for name, definition in (answer for answer in written if not isinstance(answer, Failure))
        ]


class _Experiment:
    """Requests put to versions of a catalog, within a budget that always leaves enough for the held half."""

    def __init__(
        self,
        catalog: Catalog,
        queries: Sequence[Query],
        selector: Selector,
        budget: Budget,
        *,
        writer: Model | None = None,
        worded: int = 0,
    ) -> None:
        """Prepare the requests; `worded` definitions are the writer's, whose requests count."""
        self._catalog, self._selector, self._writer = catalog, selector, writer
        is_model = isinstance(selector, ModelSelector | AnswerSelector)
        self._budget = budget if is_model else Budget(calls=SEARCH_CHOICES)
        self._index = tool_selection.Index.of([catalog])
        checked, _ = tool_selection.check_queries(queries, self._index)
        ordered = sorted(checked, key=lambda query: (query.tool, short_hash(query.text)))
        self._leading, self._held = ordered[::2], ordered[1::2]
        self._count, self._unusable, self._worded = 0, 0, TRIES * worded if writer else 0
        if not self._held:
            raise InputError("one request proves nothing: give at least two, better fifty")

    async def run(self, edits: Sequence[_Edit], propose: _Propose | None = None) -> tuple[_Version, Proof]:
        """Take back what loses a request, one change for each; search from there; ask the held half about the best.

        What loses more of that half than it gains is taken back too, and so is what the search has added if it gains
        nothing there: among many candidates a few help by chance.
        """
        version, pool, lost = tuple(edits), dict[_Version, Sequence[QueryChoice]](), dict[_Edit, str]()

        async def ask(*versions: _Version) -> None:
            pool.update(zip(versions, await self._ask(self._leading, versions), strict=True))

        is_searching = propose is not None and self._width() > 0
        if edits or is_searching:
            await ask(*dict.fromkeys(((), version)))
        while blamed := dict(_blame(version, _worse(pool.get((), ()), pool.get(version, ())))):
            lost |= blamed
            version = tuple(edit for edit in version if edit not in blamed)
            if version not in pool:
                await ask(version)
        pool = {version: pool.get(version, ()), **pool}  # first among equals, so that what disturbs nobody stays
        tried = dict.fromkeys(edits)
        while propose and is_searching and self._width():
            children = (await _children(pool, tried, propose))[: self._width()]
            tried |= dict.fromkeys(edit for child in children for edit in child)
            await ask(*children)
            is_searching = bool(children)
        best = max(
            (candidate for candidate in pool if not _worse(pool.get((), ()), pool[candidate])),
            key=lambda candidate: (
                *map(sum, zip(*map(_merit, pool[candidate]), strict=True)),
                sum(edit in edits for edit in candidate),
                -sum(edit.trial.tokens for edit in candidate),
            ),
        )
        before, after = await self._ask(self._held, ((), best)) if best else ((), ())
        worse, better = _worse(before, after), _worse(after, before)
        balance = Counter(edit for edit, _ in _blame(best, worse))
        balance.subtract(edit for edit, _ in _blame(best, better))
        late = {edit: text for edit, text in _blame(best, worse) if balance[edit] > 0}
        remaining = tuple(edit for edit in best if edit not in late and (edit in edits or balance[edit] < 0))
        lost = {edit: text for edit, text in lost.items() if edit not in best} | late
        usage = _usage(self._selector)
        return remaining, Proof(
            selector=self._selector.name,
            requests=len(self._leading),
            held=len(self._held),
            choices=self._count,
            unusable=self._unusable,
            tokens_read=usage.input_tokens if usage else None,
            tokens_written=usage.output_tokens if usage else None,
            cost=usage.cost if usage else None,
            leading_gained=len(_worse(pool[best], pool.get((), ()))),
            gained=len(better),
            lost=len(worse),
            high=int(1000 * tool_selection.wilson_interval(len(worse), len(self._held))[1] + 0.5),
            trials=tuple(
                replace(edit.trial, is_kept=edit in remaining, lost=lost.get(edit), on_held=edit in late)
                for edit in tried
            ),
        )

    async def _ask(self, half: Sequence[Query], versions: Sequence[_Version]) -> list[tuple[QueryChoice, ...]]:
        self._count += len(versions) * len(half)
        texts = [query.text for query in half]
        indexes = [self._index.like([_edited(self._catalog, version)]) for version in versions]
        if isinstance(self._selector, AnswerSelector):
            missing = [batch for index in indexes for batch in self._selector.open_batches(index.tools, texts)]
            if missing:
                raise UnansweredError(missing)
        chosen = [
            tool_selection.choose(half, await self._selector.rank(index.tools, texts), index) for index in indexes
        ]
        failures = [choice for choices in chosen for choice in choices if choice.failure]
        if unanswered := [choice.failure for choice in failures if not choice.is_unusable]:
            raise InputError(f"{len(unanswered)} requests have no answer, so nothing is proven: {unanswered[0]}")
        self._unusable += len(failures)
        if failures and self._unusable == self._count:
            raise InputError(f"all {self._count} answers are unusable, so nothing is proven: {failures[0].failure}")
        return chosen

    def writer_for(self, texts: int) -> Model | None:
        """The writer, if the budget allows so many texts, each corrected, beside the held half."""
        if self._writer is None or not self._fits(2 * len(self._held), texts=TRIES * texts):
            return None
        self._worded += TRIES * texts
        return self._writer

    def _width(self) -> int:
        """How many versions the budget allows to try beside the held half; none of a model without any budget."""
        half = len(self._leading)
        first = 0 if self._count else 2 * half  # the catalog as it is, and with all rewrites
        counts = range(WIDTH + 1) if self._budget != Budget() else ()
        return max((width for width in counts if self._fits(first + width * half + 2 * len(self._held))), default=0)

    def _fits(self, choices: int, *, texts: int = 0) -> bool:
        """Return whether choices and texts are within the budget, if they take what those so far have taken.

        An answer from the cache counts as one that was paid, or a rerun would search further.
        """
        budget, usage = self._budget, _usage(self._selector) or Usage()
        [batch, *_] = tool_selection.batches(self._index.tools, [self._leading[0].text])
        size = estimate_tokens(batch.system) + ANSWER_TOKENS
        requests, tokens = max(usage.requests, self._count), max(_tokens(usage), self._count * size)
        share = choices / max(1, self._count)  # of what was asked so far, corrections included
        written = used(self._writer) or Usage()
        texts += max(written.requests, self._worded)
        return (
            (budget.calls is None or requests + max(choices, share * requests) + texts <= budget.calls)
            and (budget.tokens is None or tokens + max(choices * size, share * tokens) + texts * size <= budget.tokens)
            and (budget.cost is None or (usage.cost or 0) * (1 + share) + (written.cost or 0) <= budget.cost)
        )


async def _children(
    pool: Mapping[_Version, Sequence[QueryChoice]], tried: Mapping[_Edit, None], propose: _Propose
) -> list[_Version]:
    """Versions to try next: those of the front together, then one with a new change, the best parents first."""
    front, measured = _front(pool), {frozenset(version) for version in pool}
    for parent in front:
        merged = []
        for other in front:
            child = parent
            for edit in other:
                child = child if edit in child else _with_edit(child, edit)
            merged.append(child)
        new = [_with_edit(parent, edit) for edit in await propose(parent, pool[parent]) if edit not in tried]
        children = {frozenset(child): child for child in (*merged, *new) if frozenset(child) not in measured}
        if children:
            return list(children.values())
    return []


def _front(pool: Mapping[_Version, Sequence[QueryChoice]]) -> list[_Version]:
    """The versions that no other one equals or beats for every request, best for most requests first (Pareto)."""
    merits = {version: [_merit(choice) for choice in choices] for version, choices in pool.items()}

    def reaches(version: _Version, bar: _Version) -> bool:
        return all(map(tuple.__ge__, merits[version], merits[bar]))

    front: list[_Version] = []
    for version in pool:
        if not any(reaches(other, version) for other in front):
            front = [*(other for other in front if not reaches(version, other)), version]
    best = [max(column) for column in zip(*(merits[version] for version in front), strict=True)]
    wins = {version: sum(map(tuple.__eq__, merits[version], best)) for version in front}
    return sorted(front, key=lambda version: -wins[version])


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens


def _usage(selector: Selector) -> Usage | None:
    """Return what the selector's model has used; nothing of one that has no model, None of an agent elsewhere."""
    if isinstance(selector, ModelSelector):
        return used(selector.model)
    return None if isinstance(selector, AnswerSelector) else Usage()


def _worse(before: Sequence[QueryChoice], after: Sequence[QueryChoice]) -> list[QueryChoice]:
    """The later choices of the requests that do worse."""
    return [choice for former, choice in zip(before, after, strict=True) if _merit(choice) < _merit(former)]


def _merit(choice: QueryChoice) -> tuple[Fraction, Fraction, int]:
    demands = [read(choice.plan) for read in DEMANDS.values()] if choice.plan else []
    return choice.first, choice.found, -demands.count(False)


def _fails(choice: QueryChoice) -> bool:
    return _merit(choice) < (1, 1, 0)


def _blame(version: Sequence[_Edit], choices: Sequence[QueryChoice]) -> Iterator[tuple[_Edit, str]]:
    """For each choice the change to a tool that it is about, or else to any, that has most words of the request."""
    for choice in choices:
        query = choice.query
        names, terms = {query.tool, *query.also, *choice.instead}, set(search_terms(query.text))
        involved = [edit for edit in version if edit.trial.tool in names] or version
        shared = [
            (len(terms.intersection(search_terms(edit.trial.words))), edit.trial.tool == query.tool)
            for edit in involved
        ]
        yield involved[shared.index(max(shared))], query.text
