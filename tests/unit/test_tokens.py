"""The token estimate compared to a real BPE tokenizer (Llama's, which is part of wordllama)."""

from __future__ import annotations

from pathlib import Path

import pytest
import wordllama
from tokenizers import Tokenizer

import cognigraph.space
from cognigraph.text.marks import estimate_tokens
from tests.cases import each

ENGLISH = """I went to the doctor last Tuesday about my knee, and she told me to swim
more and run less. My sister Clara baked bread on Sunday; half of it was gone before lunch! Do you
remember the trip to Lisbon in 2019, when we lost Ben's suitcase at the airport and had to buy
everything again?"""
CHAT = """[m12] 2026-05-20 09:00 s1 Ann: omg yes!! that's sooo good lol, can't wait :) see u @ 7pm?
[m13] 2026-05-20 09:01 s1 Ben: haha ok, bring the €20 & the keys pls, it's at 221B Baker St."""
TECHNICAL = """The OpenTelemetry exporter retries with exponential backoff; Kubernetes reschedules
deoxyribonucleic-acid sequencing pipelines whose preconditions (authentication, idempotency,
serialization) are misconfigured. Error 0x8007045D at 192.168.13.37:8443 on 2026-05-20T09:00:00Z."""
JSON = """{"id": "a1b2c3d4", "speaker": "Ann", "tags": ["oslo", "move"], "score": 0.93817,
 "nested": {"url": "https://example.org/a/b?c=d&e=%20f"}, "ok": true,
 "uuid": "3f2504e0-4f89-11d3-9a0c-0305e82c3301"}"""
CHINESE = "我去年五月搬到了奥斯陆，现在住在港口附近。你还记得我们在里斯本的旅行吗？"
JAPANESE = "去年の五月にオスロへ引っ越して、今は港の近くに住んでいます。旅行を覚えていますか？"
KOREAN = "작년 오월에 오슬로로 이사해서 지금은 항구 근처에 살고 있어요. 리스본 여행 기억나요?"
RUSSIAN = "В прошлом мае я переехала в Осло и теперь живу рядом с портом. Помнишь Лиссабон?"
GERMAN = "Letzten Mai bin ich umgezogen; die Wohnungsbaugenossenschaft übernimmt Straßengebühren."
ARABIC = "انتقلت إلى أوسلو في مايو الماضي وأعيش الآن بالقرب من الميناء. هل تتذكر رحلتنا؟"
HINDI = "मैं पिछले मई में ओस्लो आ गई और अब बंदरगाह के पास रहती हूँ। लिस्बन याद है?"
EMOJI = "🙂🙃🎉👍🏽❤️ nice 👩‍👩‍👧 🇳🇴"
CODE = Path(cognigraph.space.__file__).read_text("utf-8")[4000:8000]

SAMPLES = {
    "English": (ENGLISH, 0.9, 1.4),
    "chat": (CHAT, 0.9, 1.4),
    "technical": (TECHNICAL, 0.9, 1.4),
    "JSON": (JSON, 0.9, 1.4),
    "code": (CODE, 0.9, 1.4),
    "Chinese": (CHINESE, 0.9, 2.0),
    "Japanese": (JAPANESE, 0.9, 2.2),
    "Korean": (KOREAN, 0.9, 2.2),
    "Russian": (RUSSIAN, 0.9, 3.0),
    "German": (GERMAN, 0.9, 1.6),
    "Arabic": (ARABIC, 0.85, 2.0),
    "Hindi": (HINDI, 0.9, 2.0),
    "emoji": (EMOJI, 0.5, 2.0),  # four bytes each in Llama 2, one or two tokens in newer ones
}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    folder = Path(wordllama.__file__).parent / "tokenizers"
    return Tokenizer.from_file(str(folder / "l2_supercat_tokenizer_config.json"))


@each("name", SAMPLES)
@pytest.mark.slow
def test_the_estimate_is_within_bounds(tokenizer, name):
    text, lowest, highest = SAMPLES[name]
    real = len(tokenizer.encode(text, add_special_tokens=False).ids)
    assert lowest <= estimate_tokens(text) / real <= highest


@each(
    ("text", "expected"),
    [
        ("", 0),
        ("   ", 0),
        ("hello", 1),
        ("hello world", 2),
        ("Hello, world!", 4),
    ],
)
def test_simple_texts(text, expected):
    assert estimate_tokens(text) == expected


def test_long_words_and_numbers_cost_more():
    assert estimate_tokens("internationalisation") >= 4
    assert estimate_tokens("2026") > estimate_tokens("2")
    assert estimate_tokens("ab" * 500) >= 200
