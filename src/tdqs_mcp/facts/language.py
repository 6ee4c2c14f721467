"""Which language a text is written in: scripts and function words, counted; no model, no network, linear."""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import cache

from tdqs_mcp.facts import lexica
from tdqs_mcp.facts.lexicon import PHRASES, STOPWORDS
from tdqs_mcp.facts.words import LEMMAS

HAN_WEIGHT = 3
"""Latin letters that weigh as much as one Han character or Kana: a word has five letters here, two there."""

HANGUL_WEIGHT = 2
"""Latin letters that weigh as much as one Hangul syllable."""

KANA_SHARE = 10
"""Of so many characters Japanese has at least one Kana; Chinese has hardly any, in names and as decoration."""

MIN_DENSITY = 16
"""Of so many different words at least one is a function word of the language, or it is none of those we know."""

FEW = 3
"""Votes from which function words decide alone; with fewer, all words of the lexica are asked too."""

NAMES = {
    "en": "English", "es": "Spanish", "pt": "Portuguese", "fr": "French", "it": "Italian", "de": "German",
    "tr": "Turkish", "ru": "Russian", "zh": "Chinese", "ja": "Japanese", "ko": "Korean", "nl": "Dutch", "sv": "Swedish",
    "da": "Danish", "no": "Norwegian", "pl": "Polish", "cs": "Czech", "ro": "Romanian", "ca": "Catalan",
    "hu": "Hungarian", "fi": "Finnish", "id": "Indonesian", "vi": "Vietnamese", "uk": "Ukrainian", "be": "Belarusian",
    "sr": "Serbian", "bg": "Bulgarian", "el": "Greek", "he": "Hebrew", "ar": "Arabic", "fa": "Persian", "hi": "Hindi",
    "th": "Thai",
}  # fmt: skip
"""Every language that is told from others, by its ISO 639-1 code."""

_PROFILES = {
    "es": (
        "el la los las un una unos unas de del al y o en con por para que se su sus lo es son como más mas no si este "
        "esta estos estas cuando sin sobre entre desde hasta según donde cada todos todas uno ya sólo solo también"
    ),
    "pt": (
        "o os as um uma uns umas de do da dos das ao aos à às e ou em no na nos nas com por para que se seu sua seus "
        "suas é são como mais não nao pelo pela este esta esse essa quando sem sobre entre até cada todos todas só "
        "também já deste desta"
    ),
    "fr": (
        "le la les un une de du des au aux et ou en dans avec par pour que qui se son sa ses est sont ce cette ces ne "
        "pas plus sur sans entre depuis si leur leurs vous votre vos il elle lorsque chaque tous toutes l d qu n s à"
    ),
    "it": (
        "il lo la i gli le un uno una di del dello della dei degli delle al allo alla ai alle e o in con per che si "
        "suo sua è sono come più non se questo questa quando senza su tra da dal dalla nel nella ogni tutti tutte l "
        "dell all nell d"
    ),
    "de": (
        "der die das den dem des ein eine einen einem einer eines und oder in im mit für von vom zu zum zur auf aus "
        "bei beim nach über unter an am als ist sind wird werden nicht kein keine nur wenn ob dass wie man sie ihre "
        "ihr diese dieser dieses diesen durch ohne um alle bis nutzer"
    ),
    "tr": (
        "bir ve veya ile için bu şu o da de mi göre kadar gibi daha en çok olarak olan olup ya her tüm değil var yok "
        "ise eğer ancak sonra önce üzerinden belirtilen verilen belirli içindeki hakkında tarafından"
    ),
    "nl": (
        "de het een van en of in op met voor aan uit bij naar door over te is zijn wordt worden niet geen dit deze die "
        "dat als om alle ook meer kan je uw"
    ),
    "sv": (
        "en ett och eller i på med för av till från som är inte det den de att om vid alla kan ska detta denna efter"
    ),
    "da": (
        "en et og eller i på med for af til fra som er ikke det den de at om ved alle kan skal dette denne efter "
        "bruges hvis også"
    ),
    "no": (
        "en et og eller i på med for av til fra som er ikke det den de at om ved alle kan skal dette denne etter brukes"
    ),
    "pl": (
        "i w z na do dla od po o przez nie się jest są lub oraz który która które ten ta to tego tej jak za przy "
        "podstawie wszystkie tylko"
    ),
    "cs": (
        "a v z na do pro od po o přes ne se je jsou nebo který která které ten ta to jak za při podle všechny pouze ze"
    ),
    "ro": "și un o de la cu pentru în din care este sunt sau pe al ale nu se prin după toate unui unei cel cea",
    "ca": (
        "el la els les un una de del dels al als i o en amb per que es seu seva és són com més no si aquest aquesta d l"
    ),
    "hu": "a az egy és vagy hogy nem van ez meg el be ki alapján szerint adott összes ha csak",
    "fi": "ja tai on ei se että kun jos tämä annetun kaikki mukaan voi sekä",
    "id": (
        "yang dan atau di ke dari untuk dengan pada ini itu adalah tidak dalam oleh akan berdasarkan semua jika dapat"
    ),
    "vi": "và hoặc của cho với trong từ theo các một là có không được này để khi những tất cả",
    "en": (
        "the a an of in on at to from by for with and or as is are be it its this that these when if not you your "
        "which will can use only all any each into than then has have was no do does must should may per more "
        "given specified using via how what where over come plus pro"
    ),
}
"""The commonest words of each language's descriptions; words that several share vote for each of them."""

_MARKS = {
    "ñ¿¡": "es",
    "ãõ": "pt",
    "ß": "de",
    "ğşıİ": "tr",
    "łżźśćńąę": "pl",
    "ěřůč": "cs",
    "øæ": "da no",
    "å": "sv da no",
    "őű": "hu",
    "șțăâ": "ro",
    "ơưđạảấầậẹếềệịọốồộớờợụứừự": "vi",
    "äöü": "de tr sv fi hu",
    "ç": "fr pt tr ca",
    "êœ": "fr pt",
    "èìòù": "it fr",
}
"""Letters that speak for a language; one vote for each word that has one."""

_ENDINGS = (("ción", "es"), ("ciones", "es"), ("ção", "pt"), ("ções", "pt"), ("zione", "it"), ("zioni", "it"))

_COMMON = frozenset(
    "name id ids file files data text value values number date time url path user users page pages key message status "
    "title type code image content current latest document project account server system table field item items "
    "address service model information details info results query database event events task tasks order orders web "
    "market price weather stock token tokens video channel customer product team member issue string object array "
    "supports available recent simple random basic full multiple single first last next previous between through "
    "about after existing based related two three numbers search support history metadata forecast report level "
    "schema config configuration version summary list chart news articles media audio music chat commands "
    "command".split()
)
"""Plain English words that descriptions without a verb consist of."""


def _words_of_profiles() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for language, words in _PROFILES.items():
        for word in words.split():
            found.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in found.items()}


_VOTES = _words_of_profiles()
_ENGLISH = frozenset(_PROFILES["en"].split()) | LEMMAS.keys()
_VOCABULARY = (
    _ENGLISH
    | STOPWORDS
    | _COMMON
    | {word for phrases in PHRASES.values() for phrase in phrases for word in phrase.split()}
)
_FOREIGN = _VOTES.keys() - _ENGLISH
_MARKED = {letter: tuple(languages.split()) for letters, languages in _MARKS.items() for letter in letters}

_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_KANA = re.compile(r"[\u3040-\u30ff\uff66-\uff9f]")
_HANGUL = re.compile(r"[\uac00-\ud7af\u1100-\u11ff]")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_BEYOND_LATIN = re.compile(r"[\u0370-\u1dff\u2e80-\ud7ff\uf900-\ufaff\uff66-\uff9f]")
_IDENTIFIER = re.compile(r"`[^`]{1,200}`|https?://\S{1,500}|[\w.\-/]{0,100}[_\d/\\][\w.\-/]{0,100}", re.ASCII)
_OTHER_SCRIPTS = (
    (re.compile(r"[\u0370-\u03ff]"), "el"),
    (re.compile(r"[\u0590-\u05ff]"), "he"),
    (re.compile(r"[\u0600-\u06ff]"), "ar"),
    (re.compile(r"[\u0900-\u097f]"), "hi"),
    (re.compile(r"[\u0e00-\u0e7f]"), "th"),
)
_NOT_RUSSIAN = (
    (re.compile(r"[іїєґІЇЄҐ]"), "uk"),
    (re.compile(r"[ўЎ]"), "be"),
    (re.compile(r"[јљњћђЈЉЊЋЂ]"), "sr"),
)
_BULGARIAN = frozenset("се са да чрез който която което тази този към ще със във или от на за".split())
_RUSSIAN = frozenset("и в с по для из это этот как что не или от на за к при если его их все".split())
_RUSSIAN_LETTERS = re.compile(r"[ыэёЫЭЁ]")
_PERSIAN = re.compile(r"[پچژگ]")


def language_of(text: str, vocabulary: AbstractSet[str]) -> str | None:
    """The ISO 639-1 code of a text's dominant language, of which `vocabulary` are the lower-case words.

    None where it cannot be told: no letters, too few words, or a language that is not told from others here.
    """
    is_latin = text.isascii() or _BEYOND_LATIN.search(text) is None
    if is_latin and _is_plainly_english(vocabulary, is_ascii=text.isascii()):
        return "en"
    return (None if is_latin else _by_script(text)) or _by_words(vocabulary)


def _is_plainly_english(vocabulary: AbstractSet[str], *, is_ascii: bool) -> bool:
    """English words and hardly any others: what nearly every description is, told fast."""
    if is_ascii and _FOREIGN.isdisjoint(vocabulary):
        return not _ENGLISH.isdisjoint(vocabulary)
    return len(vocabulary & _ENGLISH) > FEW * (len(vocabulary & _FOREIGN) + 1)


def _by_script(text: str) -> str | None:
    """The language of a text that is mostly in a script beside Latin; identifiers and addresses do not count."""
    plain = _IDENTIFIER.sub(" ", text)
    latin = len(_LATIN.findall(plain))
    kana, han, hangul = (len(script.findall(plain)) for script in (_KANA, _HAN, _HANGUL))
    weights = {
        "ja" if KANA_SHARE * kana >= kana + han else "zh": HAN_WEIGHT * (kana + han),
        "ko": HANGUL_WEIGHT * hangul,
        "ru": len(_CYRILLIC.findall(plain)),
        **{language: len(script.findall(plain)) for script, language in _OTHER_SCRIPTS},
    }
    language, weight = max(weights.items(), key=lambda entry: entry[1])
    if weight <= latin or not weight:
        return None
    if language == "ru":
        return _cyrillic(plain)
    return "fa" if language == "ar" and _PERSIAN.search(plain) else language


def _cyrillic(text: str) -> str:
    for letters, language in _NOT_RUSSIAN:
        if letters.search(text):
            return language
    words = text.lower().split()
    bulgarian, russian = (sum(word in known for word in words) for known in (_BULGARIAN, _RUSSIAN))
    return "bg" if bulgarian + text.lower().count("ъ") > russian + len(_RUSSIAN_LETTERS.findall(text)) else "ru"


def _by_words(vocabulary: AbstractSet[str]) -> str | None:
    """The language with the most votes, English where nothing but its words are known."""
    english = len(vocabulary & _ENGLISH)
    votes = _count(vocabulary)
    leaders = _leaders(votes)
    if votes.get(leaders[0], 0) >= english and (votes.get(leaders[0], 0) < FEW or len(leaders) > 1):
        english = len(vocabulary & _VOCABULARY)
        votes = _with_lexica(votes, vocabulary)
        leaders = _leaders(votes)
    best = votes.get(leaders[0], 0)
    if english >= best:
        return "en" if english or not _VOCABULARY.isdisjoint(_parts(vocabulary)) else None
    count = sum(map(str.isalpha, vocabulary))
    is_sure = MIN_DENSITY * best >= count and (best > 1 or count <= FEW)
    close = [each for each in leaders if len(leaders) == 1 or each in lexica.SPACED]
    return close[0] if close and is_sure else None


def _leaders(votes: Mapping[str, int]) -> list[str]:
    """The languages with the most votes, in the order of the profiles; none has any where there is no vote."""
    best = max(votes.values(), default=0)
    return [language for language in _PROFILES if votes.get(language) == best] or [""]


def _parts(vocabulary: AbstractSet[str]) -> set[str]:
    return {part for word in vocabulary for part in re.split(r"[\W_]", word)}


def _count(vocabulary: AbstractSet[str]) -> dict[str, int]:
    votes: dict[str, int] = {}
    words = {part for word in vocabulary for part in word.replace("’", "'").split("'")}
    for word in words if any("'" in word or not word.isascii() for word in vocabulary) else vocabulary & _VOTES.keys():
        for language in _voters(word):
            votes[language] = votes.get(language, 0) + 1
    return votes


def _voters(word: str) -> set[str]:
    voters = {language for language in _VOTES.get(word, ()) if language != "en"}
    if not word.isascii():
        voters.update(language for letter in word for language in _MARKED.get(letter, ()))
    voters.update(language for ending, language in _ENDINGS if word.endswith(ending))
    return voters


def _with_lexica(votes: Mapping[str, int], vocabulary: AbstractSet[str]) -> dict[str, int]:
    """A text of a few words is told by all its words: "Eliminar usuario"."""
    folded = set(map(lexica.fold, vocabulary)) - _VOCABULARY
    known = {language: len((folded & _words_of_lexicon(language)) - _profile(language)) for language in lexica.SPACED}
    return {language: votes.get(language, 0) + known.get(language, 0) for language in known.keys() | votes.keys()}


@cache
def _profile(language: str) -> frozenset[str]:
    return frozenset(map(lexica.fold, _PROFILES.get(language, "").split()))


@cache
def _words_of_lexicon(language: str) -> frozenset[str]:
    lexicon = lexica.of(language)
    return lexicon.words if lexicon else frozenset()
