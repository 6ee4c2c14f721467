"""Print the verbs that authors say for each other: python calibration/paraphrases.py FOLDER...

A name has one verb and the first sentence, about the same thing, another of the same effect: on MIN_SERVERS servers
or more, and on one in MAX_RATIO of those that use the rarer verb. The lines stand in overlaps.toml as `paraphrases`,
each pair as the synonyms there have it.
"""

import sys
from collections import defaultdict
from pathlib import Path

from labels import Definitions

from tdqs_mcp.facts.text.words import PHRASES, Cue, effect_of
from tdqs_mcp.facts.toolset.relations import action_of

MIN_SERVERS = 3
"""On two, one author's slip counts half: of the pairs there, six of fourteen do something else."""

MAX_RATIO = 5
"""`check` and `get` are said for each other on 3 of the 28 servers that check: credits, a status."""


def main(folders: list[Path]) -> None:
    """Print each verb with those that are said for it."""
    servers: dict[tuple[str, str], set[int]] = defaultdict(set)
    users: dict[str, set[int]] = defaultdict(set)
    read = set()
    for number, measured in enumerate(Definitions(folders).measured):
        for purpose in measured.purposes:
            verbs = purpose.name.verb or "", purpose.source.prose.verb or ""
            place = purpose.source.tool, purpose.sentence
            if place in read or not all(verbs):
                continue
            read.add(place)
            pair = sorted({action_of(verb, is_many=False) for verb in verbs})
            for verb in pair:
                users[verb].add(number)
            # "Returns the number of users." of `count_users` says what comes back, not what the tool does
            is_result = verbs[1] in PHRASES[Cue.RETURN] or effect_of(verbs[0]) is not effect_of(verbs[1])
            # "Apply a patch to a file." of `edit_file` does to the patch what the name does not do to the file
            if len(pair) == 2 and effect_of(verbs[0]) and not is_result and purpose.head in purpose.lead_thing:
                servers[pair[0], pair[1]].add(number)
    lines: dict[str, list[str]] = defaultdict(list)
    for (verb, other), seen in sorted(servers.items()):
        # "Lists users." for `get_users` is told by the number of things
        is_usual = MAX_RATIO * len(seen) >= min(len(users[verb]), len(users[other]))
        if is_usual and len(seen) >= MIN_SERVERS and (verb, other) != ("get", "list"):
            lines[verb].append(other)
    for verb, others in lines.items():
        print(verb, *others)


if __name__ == "__main__":
    main([Path(folder) for folder in sys.argv[1:]])
