"""What the concepts of a text say to an agent when they stand together. Data only."""

from tdqs_mcp.facts.ploys import Ploy

POISON: dict[Ploy, str] = {
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
"""Lines as in `pleas`."""
