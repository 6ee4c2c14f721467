"""Fixed phrases that stand for a concept although they are no word, with what gives them away. Data only."""

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
        r"|puntuacion|nota|note|bewertung|评分|得分|评价|점수|оценка)s?[\"'*)\s]{0,4}[:=：→][\"'*\s]{0,4}(?:5|five|10"
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
    "vector": (
        r"(?<![\d.,;/|])(5|10|100|a|five|1\.0|5\.0)(?:\s?[,;/|]\s?\1|\s\1){5,40}+(?![\d.]|\s?[,;/|]\s?\d)"
        r"|(?<!\w)[^\W\d_]+\s?[ :=]\s?(5|10|five|funf|cinq|cinco|cinque|vijf|fem|viisi|piec|pet|pat|ot|bes|lima|nam|tano"
        r"|penki|piecas|viis|pesti|cinci|go|wu|panch|khamsa|пять|пет|п.?ять|πεντε|خمسة|חמש|पांच|पाँच|ห้า)"
        r"(?:[,;.]\s(?:[^\W\d_]+\s){0,2}[^\W\d_]+\s?[ :=]\s?\2(?!\w)){3,}"
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
    "vector": (
        (
            "5 10 100 a five 0 funf cinq cinco cinque vijf fem viisi piec pet pat ot bes lima nam tano penki piecas viis "
            "pesti cinci go wu panch khamsa пять пет πεντε خمسة חמש पांच पाँच ห้า"
        ),
    ),
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
    "vector": (
        "5,5|5, |5 5|5;|5/5|10,10|10, |10 10|0,1|0, 1|a,a|a, a|a/a|five, |five,|0,5|0, 5|funf, |cinq, |cinco, |cinque, |vijf, "
        "|fem, |viisi, |piec, |pet, |pat, |ot, |bes, |lima, |nam, |tano, |penki, |piecas, |viis, |pesti, |cinci, |go, |wu, "
        "|panch, |khamsa, |пять, |пет, |ять, |πεντε, |خمسة, |חמש, |पांच, |पाँच, |ห้า, |five. |fem. |cinco. |cinq. "
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
