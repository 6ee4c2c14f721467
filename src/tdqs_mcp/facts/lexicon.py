"""The words that prose looks for: verbs by effect, cue phrases by what they tell an agent. English, data only."""

from enum import StrEnum


class Effect(StrEnum):
    """What a verb promises to do to the world."""

    READ = "read"
    PRODUCE = "produce"
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    ACT = "act"

    @property
    def is_mutating(self) -> bool:
        """Something outside the answer changes."""
        return self in (Effect.CREATE, Effect.UPDATE, Effect.DELETE)


class Cue(StrEnum):
    """What a phrase tells the agent, by the rubric's dimension: usage, behaviour, parameters, form."""

    WHEN = "when"
    WHEN_NOT = "when not"
    ALTERNATIVE = "alternative"
    PREREQUISITE = "prerequisite"
    DESTRUCTION = "destruction"
    SIDE_EFFECT = "side effect"
    SAFETY = "safety"
    PERMISSION = "permission"
    LIMIT = "limit"
    ERROR = "error"
    TIMING = "timing"
    RETURN = "return"
    FORMAT = "format"
    EXAMPLE = "example"
    PARAMETER_LIST = "parameter list"
    FILLER = "filler"


VERBS: dict[Effect, str] = {
    Effect.READ: (
        "get list search find fetch read retrieve query show check view count compare describe look lookup return "
        "inspect browse download validate verify analyze analyse examine monitor resolve discover determine preview "
        "detect identify extract parse scan measure evaluate assess "
        "audit explain summarize diff trace locate recommend  "
        "suggest predict estimate display print report review test ping select filter match recall scrape crawl "
        "enumerate collect gather obtain provide access explore watch track poll wait debug lint profile "
        "listen"
    ),
    Effect.PRODUCE: (
        "generate calculate compute convert translate render format encode decode transform draw plot build compile "
        "compose simulate solve take capture export transcribe synthesize "
        "design visualize hash sort clone prepare plan  "
        "draft think"
    ),
    Effect.CREATE: (
        "create add insert register upload post send submit publish "
        "write import store save append attach invite deploy  "
        "install provision schedule book order buy pay commit push copy duplicate reply comment share grant subscribe "
        "record log tweet email notify transfer mint remember fork refund forward lend reserve queue put"
    ),
    Effect.UPDATE: (
        "update edit modify change set rename move patch replace configure enable disable assign merge mark resize "
        "rotate restore revert adjust toggle apply sync upsert lock unlock pause resume close reopen approve reject "
        "tag label pin switch reorder alter override complete "
        "accept decline snooze postpone renew reauthorize repair finalize unmerge fix"
    ),
    Effect.DELETE: (
        "delete remove destroy drop clear purge erase uninstall cancel revoke wipe reset kill terminate stop "
        "unsubscribe archive detach truncate empty discard dismiss"
    ),
    Effect.ACT: (
        "run execute invoke call perform process handle manage do work use trigger start launch open click press type "
        "navigate drag fill hover scroll tap swipe connect disconnect "
        "login interact control play ask chat request make  "
        "initialize load activate evaluate emulate swap bridge go drive enter rerun authenticate restart"
    ),
}
"""Space-separated lemmas; a verb listed twice belongs to its first class."""

VAGUE_VERBS = frozenset("process handle manage do perform work use execute interact control".split())
"""Verbs that leave open what happens."""

OVERT_MUTATIONS = frozenset(
    "create delete update write upload destroy drop purge erase rename move overwrite publish save "
    "install uninstall".split()
)
"""Verbs that contradict `readOnlyHint: true` when a description opens with them.

Verbs that a pure function shares, such as add, insert, remove or replace, prove nothing.
"""

STOPWORDS = frozenset(
    "a an the of in on at to from by for with and or as is are be it its this that these those tool tools function api "
    "your you all any given specified provided specific current new one using use via into up out which can will "
    "mcp server method endpoint call".split()
)

PHRASES: dict[Cue, tuple[str, ...]] = {
    Cue.WHEN: (
        "use this", "use it", "use when", "use for", "use if", "useful for", "useful when", "useful to", "call this",
        "call when", "when you", "when the user", "when a user",
        "when asked", "when users", "when working", "when needed",
        "if you need", "if you want", "if the user", "whenever", "ideal for", "intended for", "designed for",
        "designed to", "best for", "helpful for", "helpful when", "suitable for", "should be used", "must be used",
        "can be used", "to be used", "prefer this", "recommended for", "great for", "perfect for", "trigger when",
        "invoke this", "run this", "good for", "for when", "always use", "used to", "used for", "used when",
    ),
    Cue.WHEN_NOT: (
        "do not use", "don't use", "not for", "not intended", "should not be used", "not suitable", "never use",
        "avoid using", "only use", "use only", "only when",
        "only if", "only for", "only works", "unless", "do not call",
        "don't call", "not needed", "not necessary", "do not", "don't", "cannot be used",
        "except", "not available",
    ),
    Cue.ALTERNATIVE: (
        "instead", "instead of", "alternative", "alternatively", "unlike", "rather than", "in contrast", "compared to",
        "see also", "prefer", "for that use", "as opposed to", "for more",
    ),
    Cue.PREREQUISITE: (
        "must first", "first call", "first use", "call first", "before using", "before calling", "must be called",
        "prior to", "prerequisite", "prerequisites", "make sure", "ensure that", "returned by", "obtained from",
        "obtained by", "to get the", "from a previous", "after calling", "after using", "you must", "must call",
        "must have", "requires a", "requires an", "required to", "before",  "use first", "you need to", "needs to be",
        "should be called", "can be obtained",
    ),
    Cue.DESTRUCTION: (
        "permanently", "permanent", "irreversible", "irreversibly", "cannot be undone", "can't be undone",
        "cannot be recovered", "cannot be reversed", "overwrites", "overwrite", "overwritten", "overwriting",
        "destructive", "data loss", "cascade", "cascades", "discards", "discarded", "caution", "warning", "undone",
        "reversible", "recoverable", "soft delete", "trash", "in place", "replaces",
        "restored", "for good", "forever", "everything in it", "refund", "refunded",
    ),
    Cue.SIDE_EFFECT: (
        "side effect", "side effects", "modifies", "sends", "notifies", "triggers", "writes", "persists", "persisted",
        "is saved", "are saved", "charged", "charges", "billed",
        "costs", "credits", "will create", "will be created", "will update",
        "will be updated", "will delete", "will be deleted", "will be removed", "will replace", "will overwrite",
        "will send", "will be sent", "automatically", "existing",
        "creates", "starts", "opens", "unchanged", "preserved",
        "preserves", "stored", "logged", "visible to", "takes effect", "merges", "appends", "kept",
    ),
    Cue.SAFETY: (
        "read-only", "read only", "readonly",
        "does not modify", "doesn't modify", "without modifying", "does not change",
        "no side effects", "idempotent", "non-destructive", "nothing is changed", "dry run", "dry-run", "safe to",
        "no changes", "never modifies", "does not write", "does not execute", "local only", "no network",
    ),
    Cue.PERMISSION: (
        "permission", "permissions", "authentication", "authenticated", "authorization", "api key", "api keys",
        "access token", "admin", "administrator", "oauth", "credentials", "logged in", "sign in", "requires auth",
        "bearer token", "scope", "scopes", "privileges", "role", "owner only", "public api", "no authentication",
        "account", "restricted to", "confirmation", "approval",
    ),
    Cue.LIMIT: (
        "rate limit", "rate limits", "rate-limited", "rate limited", "maximum", "max", "at most", "up to", "limit",
        "limited", "limits", "limited to", "pagination", "paginated", "paginate", "per page", "quota", "truncated",
        "only returns", "no more than", "minimum", "at least", "first page", "page size", "cursor", "per call",
        "per request", "not included", "excludes", "only the", "latest", "most recent", "within the last",
    ),
    Cue.ERROR: (
        "error", "errors", "fails", "fail", "failure", "raises", "throws", "exception", "exceptions", "not found",
        "invalid", "returns null", "returns none", "empty list",
        "empty array", "empty string", "404", "403", "rejected",
        "rejects", "if no", "does not exist", "doesn't exist", "already exists", "retry", "unavailable", "missing",
    ),
    Cue.TIMING: (
        "asynchronously", "asynchronous", "background", "poll", "polls",
        "polling", "wait", "waits", "blocks", "blocking",
        "seconds", "minutes", "timeout", "times out", "cached", "cache", "streams", "streaming", "slow", "long-running",
        "real-time", "immediately", "delayed", "job", "once", "synchronous", "expires",
    ),
    Cue.RETURN: (
        "returns", "return", "returned", "outputs", "output", "response", "responds", "yields", "result", "results",
        "gives back", "contains", "containing", "includes", "provides",
    ),
    Cue.FORMAT: (
        "format", "formatted", "iso", "yyyy-mm-dd", "regex", "default", "defaults", "defaults to", "optional",
        "comma-separated", "must be", "valid", "one of", "absolute path", "absolute", "relative", "json", "utc", "url",
        "case-sensitive", "case-insensitive", "wildcard", "syntax", "either", "required", "supported", "supports",
        "integer", "string", "boolean", "array", "uuid", "omit", "parameter", "parameters", "specify", "pass",
    ),
    Cue.EXAMPLE: ("example", "examples", "e.g", "eg", "for instance", "such as", "i.e", "like"),
    Cue.PARAMETER_LIST: ("args", "arguments", "parameters", "params", "inputs", "input"),
    Cue.FILLER: (
        "easily", "simply", "powerful", "seamlessly", "seamless", "very", "robust", "comprehensive", "various",
        "allows you to", "allows to", "enables you to", "this tool allows", "this tool is", "this tool will",
        "basically", "just", "please", "note that", "a tool to", "a tool for", "a tool that", "helps you",
        "state-of-the-art", "cutting-edge", "advanced", "efficiently", "important", "critical", "amazing", "very",
    ),
}  # fmt: skip
