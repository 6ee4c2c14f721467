"""What the shards that are under way may use at once, so that a judge's limits hold over all workers."""

from dataclasses import dataclass, field

from tdqs_mcp.judges.budget import Budget
from tdqs_mcp.judges.judge import Usage

TOOLS_AT_ONCE = 40
"""Tools that one judge is asked about at once, by all workers together, unless it has a limit of its own."""

SERVERS_AT_ONCE = 30
"""Tool sets, likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one shard may use; None where nothing bounds it."""

    tools: int | None = None
    """Requests about tools at once."""

    servers: int | None = None
    """Requests about tool sets at once."""

    budget: Budget = field(default_factory=Budget)


class Shares:
    """Divides the limits of a run among shards; what a shard did not use comes back."""

    def __init__(self, *, budget: Budget, concurrency: int | None = None, is_model: bool) -> None:
        """The offline judge (not `is_model`) has no limits. `concurrency` is the judge's own."""
        self._is_model = is_model
        self._budget = budget
        self._tools = concurrency or TOOLS_AT_ONCE
        self._servers = min(SERVERS_AT_ONCE, self._tools)
        self._out: list[Share] = []

    def take(self, slots: int) -> Share | None:
        """An equal part of what is left, for one of so many shards at once; None while there is none."""
        if not self._is_model:
            return Share()
        free = min(slots, self._servers) - len(self._out)
        if free < 1:
            return None
        share = Share(
            tools=(self._tools - sum(each.tools or 0 for each in self._out)) // free,
            servers=(self._servers - sum(each.servers or 0 for each in self._out)) // free,
            budget=Budget(
                calls=self._part("calls", free), tokens=self._part("tokens", free), cost=self._part("cost", free)
            ),
        )
        is_empty = 0 in (share.tools, share.servers, share.budget.calls, share.budget.tokens, share.budget.cost)
        if is_empty and self._out:
            return None
        self._out.append(share)
        return share

    def give_back(self, share: Share, used: Usage) -> None:
        """Settles what a shard has used of its share."""
        if not self._is_model:
            return
        self._out.remove(share)
        left = self._budget
        self._budget = Budget(
            calls=_less(left.calls, used.requests),
            tokens=_less(left.tokens, used.input_tokens + used.output_tokens),
            cost=_less(left.cost, used.cost or 0),
        )

    def _part(self, name: str, free: int) -> int | None:
        left: int | None = getattr(self._budget, name)
        if left is None:
            return None
        left -= sum(getattr(each.budget, name) for each in self._out)
        return min(max(0, left), max(1, left // free))


def _less(left: int | None, used: int) -> int | None:
    return None if left is None else max(0, left - used)
