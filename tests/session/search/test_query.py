"""What a query finds, and that an index of tokens misses none of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.session.search.query import (
    excerpt,
    normalized,
    parse_query,
    tokens,
    wanted_tokens,
)


def finds(query: str, text: str) -> bool:
    return parse_query(query).find(normalized(text)) is not None


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("kestrel", "a Kestrel, hovering"),
        ("kes*", "a kestrel"),
        ('"red kite"', "a red kite"),
        ('"red kite"', "red,\n  kite"),
        ("kite red", "a red bird, a kite"),
        ("user_name", "SELECT user_name FROM t"),
        ("user_name", "userName = 1"),
        ("user", "getUserName()"),
        ("getusername", "getUserName()"),
        ("getuser*", "getUserName()"),
        ("server", "class HTTPServer:"),
        ("http", "class HTTPServer:"),
        ("src/main.py", "see src/main.py:12"),
        ("main", "see src/main.py:12"),
        ("cafe", "ein Cafe\u0301 und ein Café"),
        ("ÜBER", "uber"),
        ("東京", "私は東京に住む"),
        ("京", "東京"),
        ("東", "東京都"),
        ("ﾃｽﾄ", "これはテストです"),
        ("σας", "ΣΑΣ"),
        ("k8s", "a k8s cluster"),
        ("用Python", "我用Python写"),
        ("сервер", "Сервер запущен"),
    ],
)
def test_found(query: str, text: str) -> None:
    assert finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("kestrel", "kestrels"),
        ("red kite", "a red bird"),
        ('"red kite"', "a red old kite"),
        ("username", "getUserName()"),
        ("https*", "myHTTPServer"),
        ("東都", "東京都"),
    ],
)
def test_not_found(query: str, text: str) -> None:
    assert not finds(query, text)


@pytest.mark.parametrize("odd", ['"', "%", "'", "-", "***", "(", "\\", "←"])
def test_without_a_letter_the_characters_are_looked_for(odd: str) -> None:
    assert finds(odd, f"before {odd} after")
    assert not finds(odd, "before and after")
    assert wanted_tokens(parse_query(odd)) == ()


@pytest.mark.parametrize(
    "odd", ["a* OR", "NEAR(", "-x", "'; DROP TABLE x", 'col:a^2 "', "a AND NOT"]
)
def test_no_word_is_an_operator(odd: str) -> None:
    query = parse_query(odd)

    assert query.find(normalized(odd)) is not None
    assert query.find("something else") is None


def test_while_typing_the_last_word_may_go_on() -> None:
    assert parse_query("red kes", typing=True).find("red kestrel") is not None
    assert parse_query("re kestrel", typing=True).find("red kestrel") is None


LETTERS = "éЖ東京カ한ßİıſKςﬁก😀_-/9 \n\u0301"
WORDS = st.lists(
    st.one_of(
        st.sampled_from(["foo", "Bar", "fooBar", "HTTPServer", "x1", "A" * 70]),
        st.sampled_from(LETTERS),
    ),
    max_size=12,
).map("".join)


@given(text=WORDS, query=WORDS)
def test_whatever_is_found_is_filed_under_each_token_of_the_query(text: str, query: str) -> None:
    for asked in (query, query + "*", f'"{query}"'):
        wanted = parse_query(asked)
        if wanted.find(normalized(text)) is None:
            continue
        filed = tokens(text).split()
        for token, goes_on in wanted_tokens(wanted):
            assert any(t.startswith(token) if goes_on else t == token for t in filed)


@given(text=st.text(max_size=40), query=st.text(max_size=20))
def test_no_query_and_no_text_is_an_error(text: str, query: str) -> None:
    parse_query(query).find(normalized(text))
    tokens(text)


@given(text=WORDS)
def test_every_word_of_a_text_finds_it(text: str) -> None:
    for word in text.split():
        if any(c.isalnum() for c in word):
            assert finds(word, text)


def test_an_excerpt_is_cut_between_words() -> None:
    text = normalized("word " * 100 + "kestrel" + " word" * 100)
    span = parse_query("kestrel").find(text)

    assert span is not None
    shown = excerpt(text, span)
    assert shown.startswith("…word")
    assert shown.endswith("word…")
    assert " kestrel " in shown
    assert len(shown) < 260
