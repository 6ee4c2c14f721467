"""Whether a text has its reader obtain, paste or configure credentials."""

import re

_SENTENCE = re.compile(r"[^.!?\n]+(?:\.(?=\S)[^.!?\n]*)*[.!?]?")
_VERB = (
    r"(?:past(?:e|ing)|enter(?:ing)?|obtain(?:ing)?|get|generat(?:e|ing)|creat(?:e|ing)|set(?:ting)?(?: up)?"
    r"|configur(?:e|ing)"
    r"|provid(?:e|ing)|suppl(?:y|ying)|export(?:ing)?|add(?:ing)?|put(?:ting)?|cop(?:y|ying)|insert(?:ing)?|sign up for"
    r"|request|register for|save|store|fill in|include|pass|replace)"
)
_THING = (
    r"(?:(?:an?|the|your|their|its)\s+(?:[\w-]+\s+){0,2}?)?"
    r"(?:api[ _-]?keys?|access[ _-]tokens?|bearer[ _-]tokens?|personal access tokens?|client[ _-]secrets?"
    r"|authori[sz]ation headers?|x-api-key|(?-i:[A-Z][A-Z0-9_]*_(?:API_KEY|KEY|TOKEN|SECRET|PASSWORD)))"
    r"|(?:your|their)\s+(?:[\w-]+\s+){0,2}?(?:credentials?|tokens?|passwords?|secrets?|login)"
)
_ASKS = re.compile(rf"\b{_VERB}\b(?:\s+[\w'’-]+){{0,4}}?\s+(?:{_THING})\b", re.IGNORECASE)
_DENIES = re.compile(
    r"\b(?:not|never|don['’]t|doesn['’]t|no need|without|needn['’]t|cannot|nobody|instead of|avoid)\b", re.IGNORECASE
)


def asks_for_credentials(text: str) -> str | None:
    """The first sentence that tells the reader to; None where there is none, or where the sentence denies it."""
    for sentence in _SENTENCE.findall(text.replace("`", "").replace("*", "")):
        found = _ASKS.search(sentence)
        if found and not _DENIES.search(sentence[: found.end()]):
            return " ".join(sentence.split())
    return None
