"""Descriptions are read in their own language: which it is, what it says, and what it leaves open."""

import tomllib
from functools import partial
from pathlib import Path

import pytest
from definitions import tool

import tdqs_mcp
from tdqs_mcp.app import catalogs, linting
from tdqs_mcp.app.linting import Policy
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.facts.text.words import Cue
from tdqs_mcp.rules import registry

FOLDER = Path(__file__).parent / "languages"
LANGUAGES = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.toml"))}
WRITTEN = {code: entry for code, entry in LANGUAGES.items() if code != "short"}
USAGE = {Cue.WHEN, Cue.WHEN_NOT, Cue.ALTERNATIVE, Cue.PREREQUISITE}

each_language = pytest.mark.parametrize("code", WRITTEN)


def prose(description, **fields):
    """The facts of one description's text."""
    [subject] = measure(catalogs.read([tool("x", description, **fields)])).subjects
    return subject.prose


def fired(name, description, **fields):
    """The ids of the findings about one definition, those for auditors too."""
    strict = Policy(selection=registry.select(profile="strict"))
    return {
        finding.rule for finding in linting.lint(catalogs.read([tool(name, description, **fields)]), strict).findings
    }


def unsaid(name, description, **fields):
    """What the words of a definition leave open: its purpose, usage, effect, result."""
    [subject] = measure(catalogs.read([tool(name, description, **fields)])).subjects
    read = subject.prose
    is_vague = read.restates_loosely or (read.has_vague_verb and read.opens_with_verb)
    found = {"purpose": is_vague, "usage": not USAGE & read.cues.keys()}
    found |= {"effect": subject.is_effect_open, "result": subject.is_result_open}
    return {what for what, is_open in found.items() if is_open and read.is_readable}


def definitions(kind):
    return [
        pytest.param(*entry, id=f"{code}-{number}")
        for code, data in WRITTEN.items()
        for number, entry in enumerate(data.get(kind, ()))
    ]


@pytest.mark.parametrize(("name", "description"), definitions("good"))
def test_a_definition_that_says_all_gets_no_finding_about_its_words(name, description):
    assert unsaid(name, description) == set()


@pytest.mark.parametrize(("name", "description", "parts"), definitions("bad"))
def test_a_definition_that_says_little_leaves_open_what_an_english_one_leaves_open(name, description, parts):
    assert unsaid(name, description) == set(parts.split())


@each_language
def test_sentences_written_before_the_lexicon_are_told_apart_and_give_their_cues(code):
    """The measured recall: at most one language, one effect and one cue of a language's held-out sentences is missed."""
    missed = {"language": [], "effect": [], "cue": []}
    for effect, cues, sentence in WRITTEN[code]["heldout"]:
        read = prose(sentence)
        missed["language"] += [sentence] * (read.language != code)
        missed["effect"] += [sentence] * bool(effect and read.effect != effect)
        missed["cue"] += [sentence for cue in cues.split("; ") if cue and cue not in read.cues]
    assert all(len(sentences) <= 1 for sentences in missed.values()), missed


@each_language
def test_every_definition_is_told_by_its_language(code):
    for kind in ("good", "bad"):
        for entry in WRITTEN[code][kind]:
            assert prose(entry[1]).language == code, entry[1]


@each_language
def test_a_mutation_contradicts_a_read_only_hint_in_its_own_words(code):
    description, word = WRITTEN[code]["mutation"]
    assert "TDQ228" in fired("x", description, annotations={"readOnlyHint": True})
    assert "TDQ228" not in fired("x", description, annotations={"readOnlyHint": False})
    assert prose(description, annotations={"readOnlyHint": True}).contradiction == word
    assert word in description.lower()


@each_language
def test_english_identifiers_and_loan_words_leave_a_text_in_its_language(code):
    read = prose(WRITTEN[code]["mixed"])
    assert read.language == code
    assert "return" in read.cues
    assert "run_query" in read.words


@pytest.mark.parametrize(
    "description",
    [
        "Lists the très chic café menus of Curaçao.",
        "Search Baidu (百度) for web pages.",
        "Returns the Umlaut (ä, ö, ü) of each vowel, or ß.",
        "Get the list of Москва metro stations",
        "Looks up a word in the Real Academia Española dictionary",
        "Gets de facto standards per page",
        "Weather forecast data",
        "Ping",
        "Search el Corte Inglés products",
        "Move a la carte orders to another table",
    ],
)
def test_a_few_foreign_words_leave_an_english_text_english(description):
    assert prose(description).language == "en"


@pytest.mark.parametrize(
    ("description", "language"),
    [
        ("Geeft de openstaande bestellingen van een klant", "nl"),
        ("Hämtar alla öppna ärenden för en kund", "sv"),
        ("Zwraca listę zamówień dla podanego klienta", "pl"),
        ("Lấy danh sách các đơn hàng của một khách hàng", "vi"),
        ("Отримує список замовлень клієнта", "uk"),
        ("Извлича списък с поръчките на клиента", "bg"),
        ("يعرض قائمة الطلبات المفتوحة للعميل", "ar"),
        ("فهرست سفارش‌های باز یک مشتری را برمی‌گرداند", "fa"),
        ("מחזיר את רשימת ההזמנות של הלקוח", "he"),
        ("แสดงรายการคำสั่งซื้อของลูกค้า", "th"),
        ("ग्राहक के खुले ऑर्डर की सूची लौटाता है", "hi"),
        ("Επιστρέφει τις παραγγελίες του πελάτη", "el"),
        ("Inatafuta hati na faili kwa jina la mtumiaji", None),
    ],
)
def test_rules_that_need_the_language_are_silent_about_others_and_one_finding_says_so(description, language):
    assert prose(description).language == language
    rules = fired("x", description)
    assert rules & {"TDQ103", "TDQ104", "TDQ107", "TDQ110"} == set()
    assert {"TDQ150", "TDQ106", "TDQ109"} <= rules


@each_language
def test_known_languages_get_no_finding_about_their_language(code):
    for entry in (*WRITTEN[code]["good"], *WRITTEN[code]["bad"]):
        assert "TDQ150" not in fired(entry[0], entry[1])


@pytest.mark.parametrize("description", [None, "", "  ", "???", "123", "ok"])
def test_a_text_without_words_has_no_language_and_no_finding_about_one(description):
    assert prose(description).language is None
    assert "TDQ150" not in fired("x", description)


def test_a_sibling_named_inside_a_text_without_spaces_is_found():
    definitions = [tool("list_orders"), tool("get_order", "按编号查询订单。没有编号时请先调用list_orders工具。")]
    found = linting.lint(catalogs.read(definitions), Policy(selection=registry.select(names=["TDQ105"])))
    assert [each.subject.name for each in found.findings] == ["list_orders"]


def test_a_parameter_named_with_an_ending_is_found():
    schema = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
    for description in (
        "order_id'yi kullanarak siparişi getirir.",
        "order_id로 주문을 조회합니다.",
        "按order_id查询订单。",
    ):
        assert "TDQ108" not in fired("get_order", description, schema=schema)


def test_real_english_descriptions_are_english(whole_corpus):
    """Of 1,600 descriptions none that is English is taken for another language."""
    others = {}
    for path in whole_corpus:
        for subject in measure(tdqs_mcp.sources.files.read_file(path)).subjects:
            if subject.prose.language not in ("en", None):
                others.setdefault(path.stem, []).append(subject.prose.language)
            assert subject.prose.is_readable, subject.tool.name
    assert {name: set(found) for name, found in others.items()} == {
        "baidu-maps": {"zh"},
        "china-rail-12306": {"zh"},
        "howtocook": {"zh"},
        "office-word": {"es"},
    }


@each_language
def test_a_rewrite_puts_no_english_into_another_language_and_asks_instead(code):
    schema = {"type": "object", "properties": {"user_id": {"type": "string"}}, "required": ["user_id"]}
    [bad, *_] = WRITTEN[code]["bad"]
    definitions = [tool("delete_user", bad[1], schema), tool("archive_user", bad[1], schema), tool("create_user", None)]
    rewrites = tdqs_mcp.rewrite(catalogs.read(definitions))
    assert [change for each in rewrites for change in each.changes] == []
    questions = [each.text for each in rewrites[0].questions]
    assert "When should an agent call which of `delete_user` and `archive_user`?" in questions


def test_a_rewrite_still_cuts_what_stands_there_twice():
    twice = "Devuelve el saldo de la cuenta indicada al cierre del día."
    [rewrite] = tdqs_mcp.rewrite(catalogs.read([tool("get_balance", f"{twice} {twice} Úsala cada noche.")]))
    assert rewrite.definition["description"] == f"{twice} Úsala cada noche."
    assert "title" not in rewrite.definition


@each_language
def test_no_text_in_another_language_is_read_in_more_than_linear_time(compare_work, code):
    """Phrases and sentences of eight times the length; quadratic time would cost 64 times as much."""
    phrases = " ".join(entry[-1] for kind in ("heldout", "good") for entry in WRITTEN[code][kind])
    piece = phrases[:2_500] + " 1。" * 600

    assert prose(piece).language == code
    compare_work(partial(prose, piece * 8), partial(prose, piece), at_most=10)
