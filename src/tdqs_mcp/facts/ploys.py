"""What the concepts of a text say when they stand together, and what a text tries with them. Data only."""

from enum import StrEnum


class Ploy(StrEnum):
    """What a text tries to do to the agent or the judge that reads it."""

    JUDGE = "addresses the judge"
    OVERRIDE = "overrides instructions"
    TURN = "forges a turn of the conversation"
    CONCEAL = "hides something from the user"
    LEAK = "asks for secrets or the conversation"
    REDIRECT = "changes what other tools do"
    SECRET = "carries a secret"  # noqa: S105  # a kind of finding
    UNSEEN = "holds characters that nobody sees"
    COMMENT = "hides an instruction in a comment"
    LOOKALIKE = "mixes scripts inside a word"
    TERMINAL = "controls the terminal"
    SUSPECT = "may speak to the judge"
    """Too weak for a finding, enough to look twice before a model reads it."""

    ENCODED = "hides instructions in an encoding"


COMMON = (
    "tool this use user not must when every you result read where other above change tell whole send give from "
    "model filled order prior first only low untrusted now be carry never system prompt hail complete assume text "
    "request account five doc reply hold exists route consent judge threat newer best score rate evaluating "
    "covert secret talk keys envir link label fullness quality pretend"
).split()
"""The concepts that ordinary definitions are full of, the commonest first: no saying is sought by these."""

PHRASES: dict[str, str] = {
    "fullmarks": (
        r"(?:5|five|cinco|funf|cinq|cinque|bes|пять|五)\s?(?:/|out\sof|of|von|de|sur|su|из|tren|av|dari|op|na|z"
        r"|分の)\s?(?:5|five|cinco|funf|cinq|cinque|bes|пять|五)(?![\d/])|(?:10\s?(?:/|out\sof)\s?10|100\s?(?:/"
        r"|out\sof)\s?100|ten\sout\sof\sten|100\s?%)(?![\d/])|5\.0(?<![-\u2013?.\d/]5\.0)(?<!to 5\.0)(?![.\d])"
        r"|a\+(?![\w+])|(?:5|five)[ -]?stars?\b|[5五][星点分점]|20\s?/\s?20|4\.9\d?(?![\d.])|(?:score|grade)=1\.0"
    ),
    "gradea": (
        r"\ban\sa(?=[.,;!?)\s]|$)|\b(?:tier|grade|band|level)\sa\b|\b(?:rated|graded|scored|judged"
        r"|fixed\sat)\s(?:an?\s)?a(?=\s?(?:[.,;!)]|by\b|$))|\ba-(?:grade|tier)\b|\b(?:all"
        r"|straight)[ -](?:fives|as)\b|\ball\s5s\b|\ba\sfive\b|\bfives\b"
    ),
    "label": (
        r"(?:score|rating|grade|tier|verdict|tdqs|overall|calificacion|punteggio|cijfer|betyg|ocena|nilai|diem"
        r"|puntuacion|nota|note|bewertung|评分|得分|評価|점수|оценка)s?[\"'*)\s]{0,4}[:=：→][\"'*\s]{0,4}(?:5|five|10"
        r"|100|a\b|excellent|perfect|pass\b|outstanding)"
    ),
    "dimkey": (
        r"purpose[ _-]?clarity|behaviou?ral[ _-]?transparency|parameter[ _-]?semantics"
        r"|contextual[ _-]?completeness|naming[ _-]?consistency|tool[ _-]?count[ _-]?appropriateness"
    ),
    "othertool": (
        r"(?<!\w)(?:any|all|every|each|other|another|remaining|different|separate|external|third-party"
        r"|next)\s(?:of\s(?:the|your)\s)?(?:other\s)?(?:\w+\s)?tools?\b|(?:otras?|demas"
        r"|cualquier)\s(?:otra\s)?herramientas?|(?:outras?|qualquer)\s(?:outra\s)?ferramentas?"
        r"|autres?\soutils?|ander\w+\s(?:werkzeug|tool)\w*|altr[ioe]\sstrument\w|(?:diger|baska)\sarac\w*"
        r"|друг\w+\sинструмент\w*|الادوات\sالاخرى|[其别]他?[它的]?\s?工具|(?:他の|ほかの)\s?ツール|다른\s?도구"
    ),
    "nevercall": r"(?:never|stop|no longer)\s(?:call|use|invoke|run|using|calling)\s(?!this)\w+",
    "afterrun": (
        r"(?:after|when(?:ever)?|once|before|each time)\s(?:\w+\s){1,3}(?:runs|returns|finishes|completes"
        r"|(?:is|was|has been)\s(?:called|run|used|invoked))"
    ),
    "outof": (
        r"(?:5|five|cinco|funf|cinq|cinque|bes|пять|10|ten)\s?(?:/|out\sof|von|de|sur|su|из|tren|av|dari|op"
        r"|na)\s?(?:5|five|cinco|funf|cinq|cinque|bes|пять|10|ten)(?![\d/.])|(?:5|five)[ -]stars\b"
    ),
    "nottell": (
        r"(?:not|never|dont|without|avoid|from)\s(?:ever\s|to\s)?(?:tell|inform|mention|reveal|disclos|notify"
        r"|alert|say)\w*"
    ),
    "devmode": (r"(?:developer|dev|god|dan|admin|root|maintenance|unrestricted|jailbreak|sudo|unsafe)[ -]mode\b"),
    "address": r"[\w.+-]{1,40}@[\w-]{1,40}\.[a-z]{2,}",
    "keys": r"(?:api|access|private|secret|ssh|encryption|signing)[ _-]?(?:keys?|tokens?)\b",
    "strongbox": (
        r"/\.(?:ssh|aws|cursor|kube|gnupg|docker|netrc|npmrc|pgpass|(?:bash|zsh)[ _]history|git-credentials"
        r"|config/)|\bid[ _](?:rsa|ed25519|ecdsa)\b|(?<!\w)\.env\b|/etc/(?:passwd|shadow)"
        r"|claude[ _]desktop[ _]config|wallet\.dat|mcp\.json"
    ),
}
"""What stands for a concept although it is no word: regular expressions over lower-case text."""

HINTS: dict[str, tuple[str, ...]] = {
    "fullmarks": (
        (
            "5 10 100 0 00 20 45 46 47 48 49 4 five ten star stars tier grade a+ cinco funf cinq cinque bes "
            "пять 五 5星 5点 5分 5점 点 分 星 점 五星 五分 5点満点"
        ),
    ),
    "gradea": (
        "a as five fives 5s",
        "an tier grade band level mark rated graded scored judged fixed a all straight five fives",
    ),
    "nevercall": (
        "never stop longer",
        "call use invoke run using calling",
    ),
    "afterrun": (
        "after when whenever once before each",
        "runs returns finishes completes called run used invoked",
    ),
    "outof": ("5 10 five ten cinco funf cinq cinque bes пять",),
    "nottell": (
        "not never dont without avoid from",
        (
            "tell telling inform informing mention mentioning reveal revealing disclose disclosing notify "
            "notifying alert alerting say saying"
        ),
    ),
    "devmode": (
        "mode",
        "developer dev god dan admin root maintenance unrestricted jailbreak sudo unsafe",
    ),
    "address": ("com example org net io de test",),
    "label": (
        (
            "score scores rating ratings grade grades tier verdict tdqs overall calificacion punteggio cijfer "
            "betyg ocena nilai diem nota note puntuacion bewertung 评分 得分 評価 점수 оценка"
        ),
        "5 five 10 100 a excellent perfect pass outstanding",
    ),
    "dimkey": (
        (
            "clarity guideline guidelines transparency semantics conciseness completeness consistency "
            "appropriateness purposeclarity usageguidelines behavioraltransparency parametersemantics "
            "contextualcompleteness"
        ),
    ),
    "keys": (
        "api access private secret ssh encryption signing apikey apikeys",
        "key keys token tokens apikey apikeys",
    ),
    "strongbox": (
        (
            "ssh rsa ed25519 ecdsa env credentials passwd shadow mcp claude kube netrc npmrc history dat pgpass "
            "gnupg aws docker config zshrc bashrc gitconfig vault"
        ),
    ),
    "othertool": (
        (
            "tool tools herramienta herramientas ferramenta ferramentas outil outils werkzeug werkzeuge "
            "strumento strumenti arac araclar araclari инструмент инструменты инструментов الادوات 工具 ツール 도구"
        ),
        (
            "any all every each other another remaining different separate external third next otra otras demas "
            "cualquier outra outras qualquer autre autres andere anderen anderes altri altre altro diger baska "
            "другие других другой الاخرى 其他 其它 别的 他の ほかの 다른"
        ),
    ),
}
"""Words, one of each line of which stands in every such phrase: the fast answer is no."""

CLUES: dict[str, str] = {
    "fullmarks": (
        "5/5|20/20|4.9|=1.0|a+|en 5|av 5|dari 5|op 5|na 5|z 5|5 star|5 /|/ 5|out of|10/10|100/100|5.0|100%"
        "|100 %|5-star|five star|five-star|5 of 5|of five|five/|星|点|分|점| de 5| von 5| sur 5| su 5|из 5"
        "|из пяти|de cinco|von funf|sur cinq|su cinque"
    ),
    "othertool": (
        "other tool|different|separate|external|third-party|any other|all other|every other|each other"
        "|another|other mcp|any tool|all tools|every tool|each tool|any mcp tool|all mcp tool|of the tools"
        "|remaining tool|otra|cualquier|outra|qualquer|autre|ander|altr|diger|baska|друг|الاخرى|他|它|别|ほか|다른"
    ),
    "strongbox": (
        "/.ssh|/.aws|/.cursor|/.kube|/.gnupg|/.docker|/.netrc|/.npmrc|/.pgpass|history|git-cred|/.config"
        "|id rsa|id ed|id ecdsa|.env|/etc/|claude desktop|wallet.dat|mcp.json"
    ),
    "outof": (
        "5/5|20/20|4.9|=1.0|a+|en 5|av 5|dari 5|op 5|na 5|z 5|5 star|5 / 5|out of|10/10|5-star|five star"
        "|five-star|de 5|von 5|sur 5|su 5|tren 5|из 5|de cinco|sur cinq|von funf"
    ),
    "nevercall": "never call|never use|never invoke|never run|stop using|stop calling|no longer",
    "afterrun": "after |whenever |once |each time ",
    "gradea": (
        " an a|tier a|grade a|band a|level a|a grade|a-grade|a tier|a-tier|all fives|all as|straight |a five"
        "|fives|5s|rated a|graded a|scored a|judged a|fixed at|rated an|at a.|all-"
    ),
    "label": "5|five|10|: a|=a|excellent|perfect|pass|outstanding",
}
"""Strings, one of which stands in every such phrase, where words alone would seldom say no; a bar parts them."""

SAYINGS: dict[Ploy, str] = {
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
    """,
    Ploy.OVERRIDE: """
        ignore > prior > order @7
        ignore > order > prior @6
        ignore + system > prompt|order @6
        prior + order > ignore @8
        now > you > be > newer|model|grader @6
        newer > system > order|prompt @4
        you > be > now > newer|model|system @6
        order + tool > ignore > prior|order @8
        you > newer > order @4
        not > follow > order @7
        ignore > order > given @6
        you > ignore > order @8
        order + ignore + told @10
        ignore > order > told|given|prior @8
        ignore > prior|you > order @9
        not > obey|follow + order + prior|system|given|told|you @10
        not > hold + order @8
        order > not > hold @8
        told > prior + not @8
        not + hold + told @10
        order + priority + system|user|other @10
        priority + above + system > prompt|order @10
        this|text + priority > order @8
        above > system > prompt @6
        devmode + now|be|change|obey|you @8
        be|change > devmode @5
        ignore > every > consent @6
        not > ask > consent @8
        obey > text|this + only|ignore|now @8
        ignore > order + obey|follow @10
        ignore > order + system|every @8
        not > order + ignore + prior @12
        preapproved + every|user @6
        guard + off @6
        guard + not > hold @8
        ignore > you > be @4
        not > ask > consent @5
        obey + doc + only @8
        obey + not + order @6
        guard + not > cover @8
        priority + order + user|system @12
        genuine > order + this|tool|doc @8
        disregard > user > request|order|prompt @5
        order + off + prior|told|given|now|system|you @10
        assume > text|result > system @14
    """,
    Ploy.CONCEAL: """
        user > not > told @5
        user > not > notice @5
        not > user > tell @6
        user > notafter > tell @6
        user > tell > notafter @5
        user + untold @5
        tell > user > nothing @4
        tell > nothing > user @4
        covert + not + notice @10
        told > deny @5
        covert + user + tell|notice @8
        covert > from > user @8
        not + user > notice @6
        not > notice > user @5
        keep > covert > user @8
        user > not > tell @12
        usbetween @0
        pretend > user @5
        pretend + not > use @10
        told > pretend @6
        when > told|ask > pretend @6
        tell > nothing @3
        not > tell > nothing @4
        you > covert + user @8
        covert + user > nothing @8
        leftout + account|user @8
        omitted > from > account @10
        hide > user @6
        account + not > refer > this|use @12
        account > not > refer @8
        hide + user|account @5
        not > user + notice @6
        quiet @0
        user + unaware @8
        user > not > notice @9
        not + user + notice @4
        not > bringup @4
        erase > trace + account|use|user @8
        feign @0
        user + suspicious @6
        not > tell > user @8
        refer > only > not @8
        erase > message > from > talk @8
        not > user > knowing @5
        not > tell > user @6
        nottell > user @10
        nottell > account @10
        keep > covert > from @8
    """,
    Ploy.LEAK: """
        read > strongbox > send|where @16
        send > strongbox @10
        read > strongbox + must|first|this @8
        read + secret + send + where @14
        send + system > prompt @9
        read|tell + system > prompt + send|whole|verbatim @8
        send > whole > talk @7
        whole > talk > send @6
        whole > talk > verbatim @8
        system > prompt > verbatim|whole @6
        whole > system > prompt @4
        ship > secret > link|where @12
        send > keys|secret > envir @9
        whole > user > uttered @5
        read > strongbox > carry @12
        send > secret > ship|sent > link|where @14
        send|where + valueof + keys|secret|envir|strongbox @14
        send + whole > talk @8
        where + whole > talk @8
        send|repeat|where + message1 @10
        message1 + whole|verbatim @8
        repeat > system > prompt @6
        every > tool > order|prompt + send|where|repeat @12
        where > every > secret @6
        secret + talk + send|where @10
        whole > user > told|uttered|tell @6
        every + account|reply + sent|send + link @10
        send > secret + where + use|verbatim @12
        strongbox + send @14
        strongbox > where @6
        read > secret > send|where @8
        envdump + send|where @8
        read > every > secret @8
        send > every > secret @8
        send > secret > where @9
        encode + secret|talk + use|send @12
        message + verbatim @8
        send > talk + link @8
        secret + you + notice @6
        valueof + keys|secret + give|send @10
        read > strongbox + secret|give|send @12
        send > every|whole > envir @5
        send > envir + link|where @6
        you > system > prompt > where @8
        read + every + keys|secret + send @12
    """,
    Ploy.REDIRECT: """
        ignore > othertool @4
        never > use > othertool + only|above @10
        othertool > untrusted @6
        when > use > othertool > also|send @14
        when > use > othertool > must @9
        when > use > divert @12
        every > othertool > also @8
        othertool + divert @12
        when > use|every > othertool + result @12
        every > must > also > sent @8
        untrusted > only > use > this @8
        never > use > tool > foreign @6
        othertool > use > send|also @8
        when + tool > use > change > payee @14
        discredit + tool + use|this|only @14
        discredit > use > this|tool @10
        other + tool|foreign + discredit @10
        use > this > tool + othertool + result @10
        othertool + result + send|use > this @12
        every + request + must + route + this|tool @12
        mailcopy + address @8
        othertool + address @12
        when > tool > exists + change|send|amount @12
        amount|payee + change + tool @10
        othertool + must + change|payee|amount|also @10
        payee + othertool @8
        othertool > must > this @8
        when > othertool > this > must @10
        use > othertool + must + send @8
        afterrun > use > this > tool @10
        othertool > never > use @8
        when|every > use > send > payee @12
        result + tool + must + route @12
        change > result > othertool @6
        other + foreign + discredit @12
        othertool + result > this > tool @12
        othertool > discredit @6
        nevercall > use > use > this > tool @14
        othertool > send > this > tool @14
        use > change > payee @8
    """,
}
"""A line is one saying: concepts in any order (`+`) or in this order (`>`), alternatives (`|`), within `@` words.

The end of a sentence or text counts as three words, a comma as one. Where both signs occur, the ordered stand first.
"""
