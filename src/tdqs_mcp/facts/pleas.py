"""What the concepts of a text say to its judge when they stand together. Data only."""

from tdqs_mcp.facts.ploys import Ploy

PLEAS: dict[Ploy, str] = {
    Ploy.JUDGE: """
        give + best|fullness + score @7
        score + fullness + grader|judge|model @7
        give + topscore @8
        must + topscore + tool|this @10
        rate > tool|this|every|dimension > best @9
        give + best + dimension @9
        give + five + dimension @8
        give + five + score + tool|grader|judge|model @12
        rate > this|tool > five @5
        rate + grader + best|five @10
        grader > must|give|rate @5
        hail > grader @5
        hail > judge + evaluating|score|rate|give|tool @12
        hail + model + evaluating|rubric + tool|score|this @14
        grader + best + score|topscore|tool|dimension @12
        judge + best + score + tool|this|give|must @12
        judge + give + topscore @10
        you > be > grader @7
        you > be > lenient > judge|grader|model @8
        lenient + judge|grader|evaluating @5
        lenient + score|rubric + tool|this|dimension @8
        when > evaluating > tool + score|best|dimension|give @10
        when > evaluating > this > tool @6
        you > evaluating > this|tool|dimension @6
        evaluating + tool + best + score|dimension|give|must @14
        when + evaluating + give|must + best|five|topscore @12
        already + rated + best|five|topscore + score|dimension|tool @12
        tool > already > rated > best|five|topscore @14
        already + best + score + tool @10
        rubric + ignore|newer|untrusted @6
        rubric + best + score|dimension|tool @12
        not > punish @5
        not > punish + tool|this|score|dimension @8
        low + score + threat + tool|this|dimension|evaluating|grader|judge|model|you @16
        assume + complete + tool + dimension|score|evaluating|every|best @14
        assume + complete + score|dimension|evaluating @10
        reply + only + best|five + score|dimension @12
        must + best + score + tool|this|every|dimension @9
        every + score + five + must|tool|dimension|evaluating @9
        dimkey + five|best|topscore @5
        label + tool|grader|judge|evaluating|dimension|rubric|justify @14
        label + label @9
        plead + best + score @10
        this|tool + sample + score + five|best @12
        this + sample > best|five + score @12
        you + score + best|five|topscore @7
        grader|judge > you > score @8
        model + rate + best|complete + this|tool @14
        rate > this|tool > above @6
        ignore > dimension|rubric > given @7
        ignore + dimension|rubric + give|best|tool @12
        when > you > rate|evaluating > this @6
        grader + best|complete|lenient|must @8
        evaluating + best|complete + tool @8
        score + best + model|grader|judge @8
        not > low > score @6
        not > score > low @6
        evaluating + five + threat @14
        must + rated + sample|best|complete @14
        best > evaluating > tool|this @6
        best > score + not + evaluating @10
        judge > must > ignore|give @5
        brand > best|topscore|fullmarks @5
        grader + score|best|punish|lenient|gradea|fullmarks + tool|doc|this|must|give|you @12
        grader + doc|tool @6
        grader + punish|lenient|gradea|fullmarks|topscore @8
        evaluating + doc + best|gradea|fullmarks|lenient|topscore @12
        evaluating + doc + must|not|low @8
        punish + doc|dimension|grader|quality @10
        not > punish + score|tool|doc @8
        dimension + five + every|must|give|low @8
        when + evaluating + reply|give + best|five|gradea @16
        lenient + model|grader|judge @8
        justify + best|five|gradea @10
        compare + prefer + this|tool @12
        best > score|quality + doc|give|must @8
        score + low + threat @10
        give + topscore|fullmarks|gradea + must|plead|when|every|tool|model @10
        plead + punish|topscore|lenient|fullmarks|gradea @8
        label + label + label @16
        vector + sample|tool|this|evaluating|score|give|dimension|facet|every @16
        fullmarks + score|dimension|grader|judge|evaluating|give|rate @8
        hail + model + evaluating @6
        rate > best > every @9
        rate > best > dimension + tool|this|must|give @9
        gradea + evaluating|grader|judge @8
        selfref + evaluating|score|rate @10
        quality + score|evaluating + selfref|best|gradea @10
        selfref + low|gradea|fullmarks|punish|topscore @5
        every + dimension + five|topscore|fullmarks @8
        every + dimension + best + must|give|be|reply|tool @8
        reader + evaluating|rate + best|five|lenient|punish|gap @14
        when > you + evaluating + score @8
        when > rubric > this > tool @8
        lenient + dimension + give|best|must|plead @14
        facet + best|five + facet @8
    """,
    Ploy.SUSPECT: """
        grader @0
        rubric @0
        brand @0
        topscore @0
        dimkey @0
        evaluating + doc @6
        evaluating + quality @4
        judge > tool @6
        punish + score|not|doc|tool|dimension|model|judge @8
        label @0
        gradea + tool|doc|give|rate|plead|must @10
        facet + five @4
        justify + reply|best|five|score|doc @10
        hail + reader @5
        reader + evaluating|score|rate|judge @6
        already + rated @5
        plead + best|lenient|punish|fullmarks|gradea @8
        you > be > judge|grader @6
        best > doc @2
        doc > be > best|complete @5
        quality + best|pass @4
        model + best > score|quality|rate @10
        judge + doc|score|evaluating|model @5
        compare + prefer @10
        llm + doc @8
        low + gradea @4
        already + rated + best @8
        rated > best @3
        quality + pass @8
        evaluating + fullmarks @8
        merit > best @4
        quality + doc @4
        model + read + doc @6
        when > you + evaluating|judge @6
        round > five @4
        five + every + dimension @8
        low + score + evaluating|doc|model @10
        attitude + score|evaluating|gradea @4
        hail + llm @4
        not + flaw @3
        benchmark @0
        stars @0
        outof @0
        vector @0
        model + best + tool @10
        evaluating + tool @5
        rate > tool > low @8
        threat + low + score @10
        justify + must @6
        best + dimension + every @8
        give + dimension + five @6
        this|tool + approved + evaluating @8
        score + model|llm + threat|low @8
        evaluating + model @2
        llm + evaluating @4
        doc > score @6
        lenient + evaluating|score|doc|tool|model|plead|judge @6
        score > doc @1
        score + best|five|gradea|fullmarks|topscore @2
        evaluating + best|gradea|complete @3
        best + evaluating + every @8
        model + evaluating + score|best|topscore|dimension @10
        model + evaluating + this|you|must|best|lenient @6
        dimension + best|gradea|fullmarks|topscore + every|give|must @8
        selfref @0
        punish + evaluating @6
        punish > must @6
        evidence + five @10
        score + gradea + must|give|doc|model|plead @8
        score + doc + best|gradea|fullmarks|punish|topscore @10
        this > doc + evaluating @8
        approved + doc + this|not @10
        doc + assume + complete @10
        gap + assume + filled|complete @12
        gap > not > punish|flaw @8
        reply > doc > best|complete @5
        facet + best + score @8
        best + best + best + facet @12
        roleplay + you|model|judge|grader @12
        this + sample + best @16
        settled + best|complete|score|evaluating|dimension|grader|judge @16
        gap > not > punish @12
        when > you + give + score @8
        wish + evaluating|score|best|dimension|grader|rubric|llm|topscore @16
        when > reading + evaluating|score|grader|rubric|best @14
        faultless + doc|dimension|every|six|already|evaluating|not @14
        harsh + you|reader|grader|score|evaluating @14
        six + heading + five|best|complete|flaw|faultless @14
        brief + evaluating|punish|harsh|score @14
        round + score|evaluating|grader|reader|harsh @16
        when > score + plead @16
        grader|judge + merit @16
        lenient + gap @12
        story + score|evaluating|grader @16
        suppose + score|evaluating|grader|topscore @14
        score + low + threat @16
    """,
}
"""A line is one saying: concepts in any order (`+`) or in this order (`>`), alternatives (`|`), within `@` words.

The end of a sentence or text counts as three words, a comma as one. Where both signs occur, the ordered stand first.
"""
