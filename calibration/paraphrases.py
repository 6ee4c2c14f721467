"""Print the verbs that authors say for each other: python calibration/paraphrases.py FOLDER...

A tool's name has one verb and its first sentence another of the same effect, on MIN_SERVERS servers or more. The lines
stand in overlaps.toml as `paraphrases`, each pair as the synonyms there have it.
"""

import sys
from collections import defaultdict
from pathlib import Path

from labels import Definitions

from tdqs_mcp.facts.text.words import PHRASES, Cue, effect_of
from tdqs_mcp.facts.toolset.relations import action_of

MIN_SERVERS = 3
"""On two, one author's slip counts half: of the pairs there, six of fourteen do something else."""


def main(folders: list[Path]) -> None:
    """Print each verb with those that are said for it."""
    servers: dict[tuple[str, str], set[int]] = defaultdict(set)
    read = set()
    for number, measured in enumerate(Definitions(folders).measured):
        for purpose in measured.purposes:
            verbs = purpose.name.verb or "", purpose.source.prose.verb or ""
            place = purpose.source.tool, purpose.sentence
            # "Returns the number of users." of `count_users` says what comes back, not what the tool does
            if place in read or verbs[1] in PHRASES[Cue.RETURN] or effect_of(verbs[0]) is not effect_of(verbs[1]):
                continue
            read.add(place)
            pair = sorted({action_of(verb, is_many=False) for verb in verbs})
            # "Lists users." for `get_users` is told by the number of things
            if len(pair) == 2 and pair != ["get", "list"] and effect_of(verbs[0]):
                servers[pair[0], pair[1]].add(number)
    lines: dict[str, list[str]] = defaultdict(list)
    for (verb, other), seen in sorted(servers.items()):
        if len(seen) >= MIN_SERVERS:
            lines[verb].append(other)
    for verb, others in lines.items():
        print(verb, *others)


if __name__ == "__main__":
    main([Path(folder) for folder in sys.argv[1:]])
