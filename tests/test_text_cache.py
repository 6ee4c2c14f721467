from tdqs_mcp.facts.lexicon import LONG_TEXTS, MAX_SHORT, cached_by_text


def test_long_texts_are_kept_only_for_a_while_and_push_no_short_one_out():
    read = []

    @cached_by_text(2)
    def first_words(text, count):
        read.append(text[:3])
        return text.split()[:count]

    long = [f"{number:03}{'x' * MAX_SHORT}" for number in range(LONG_TEXTS + 1)]
    for text in ("one two", *long, long[-1], "one two", long[0]):
        first_words(text, 1)
    assert read == ["one", *(text[:3] for text in long), "000"]
    assert first_words("one two", 2) == ["one", "two"]
