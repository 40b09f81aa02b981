"""Times and cues of questions in other languages than English. No model.

The names of months and weekdays, the order of numeric dates, and relative times ("gestern", "il y a
3 jours", "上个月") are read with the data of dateparser, that is the Unicode CLDR and its own
additions, in some 200 languages. No library knows how a language says "before", "since", "now" or
"how many"; for nine languages these words are in :data:`WORDS`. What is not certain is not read: a
short name of a month ("mar") counts only beside a number, "morgen" may be a morning, and a number
of four digits before a unit is no year.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib import import_module
from typing import Any

from cognigraph.retrieve.question.temporal import (
    MONTHS,
    Asks,
    NamedDate,
    Order,
    QuestionTime,
    TimeWindow,
)
from cognigraph.text.terms import languages_of

Time = NamedDate | TimeWindow

WORDS: Mapping[str, Mapping[str, str]] = {
    "de": {
        "numbers": "eine[mnrs]? zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "article": "de[mnrs]|die|das|zum|zur",
        "last": "(?:letzt|vorig|vergangen)e[mnrs]?",
        "before": "vor {}|bevor {}",
        "after": "nach {}",
        "since": "(?:seit|ab) {}",
        "until": "bis {}",
        "between": "zwischen {} und {}|vo[nm] {} bis {}",
        "now": "jetzt|aktuell|derzeit|momentan|mittlerweile|inzwischen|zurzeit|zuletzt|neueste",
        "first": "(?:das |zum )?erste[ns]? mal|ursprünglich|anfangs|anfänglich",
        "past": "früher|damals|ehemals|vormals",
        "when": "^(?:seit |bis |ab )?wann|an welchem (?:tag|datum)|welches datum",
        "how long": "wie lange?",
        "how many": "wie ?viele",
        "how much": "wie ?viel|wie oft|wie teuer|wie (?:hoch|groß|alt|schwer|weit)",
        "list": "alle mein(?:e|er|en)|zähl[et]? .*auf|welche [a-zäöü]+(?:en|eln|ern|s)",
        "yours": "(?:hast|hattest|würdest) du|(?:laut|von) dir"
        "|dein(?:e[mnrs]?)?|du (?:.* )?(?:hast|hattest)",
        "own": "ich|mir|mich|mein(?:e[mnrs]?)?",
    },
    "fr": {
        "numbers": "une? deux trois quatre cinq six sept huit neuf dix onze douze",
        "article": "le|la|les|l|du|de|des|au",
        "last": "(?:derni[eè]re?|passée?)",
        "before": "avant {}",
        "after": "après {}",
        "since": "depuis {}|à partir {}",
        "until": "jusqu(?: en| à)? {}",
        "between": "entre {} et {}|de {} à {}",
        "now": "maintenant|actuellement|en ce moment|à présent|dernière fois|récemment",
        "first": "(?:la )?première fois|au début|initialement|à l origine",
        "past": "autrefois|auparavant|à l époque|dans le temps",
        "when": "^(?:depuis |jusqu à )?quand|(?:à )?quelle date|quel jour",
        "how long": "combien de temps|combien d années|pendant combien",
        "how many": "combien d(?:e|es)?",
        "how much": "combien|à quelle fréquence",
        "list": "quels|quelles|tous (?:mes|les)|toutes (?:mes|les)",
        "yours": "(?:as|avais) tu|tu (?:m )?(?:as|avais)|(?:d après|selon) toi|ton|ta|tes",
        "own": "je|j|me|m|moi|mon|ma|mes",
    },
    "es": {
        "numbers": "una? dos tres cuatro cinco seis siete ocho nueve diez once doce",
        "article": "el|la|los|las|de|del",
        "last": "(?:pasad[oa]|últim[oa])",
        "before": "antes {}",
        "after": "después {}|tras {}",
        "since": "desde {}|a partir {}",
        "until": "hasta {}",
        "between": "entre {} y {}|(?:de|desde) {} (?:a|al|hasta) {}",
        "now": "ahora|actualmente|en este momento|hoy en día|última vez|recientemente",
        "first": "(?:la |por )?primera vez|al principio|originalmente|inicialmente",
        "past": "anteriormente|antiguamente|en aquel entonces|solía[ns]?",
        "when": "^(?:desde |hasta )?cuándo|(?:en )?qué (?:día|fecha)",
        "how long": "cuánto tiempo|por cuánto",
        "how many": "cuánt[oa]s",
        "how much": "cuánt[oa]|con qué frecuencia",
        "list": "cuáles|qué [a-zñáéíóú]+[aeoé]s|tod[oa]s (?:mis|l[oa]s)",
        "yours": "(?:dijiste|aconsejaste|recomendaste|sugeriste|propusiste|diste|explicaste)"
        "|según tú|tus?",
        "own": "yo|me|mí|mi|mis|mío|mía",
    },
    "pt": {
        "numbers": "uma? d(?:ois|uas) três quatro cinco seis sete oito nove dez onze doze",
        "article": "o|a|os|as|de|do|da|dos|das|ao|à",
        "last": "(?:passad[oa]|últim[oa])",
        "before": "antes {}",
        "after": "depois {}|após {}",
        "since": "desde {}|a partir {}",
        "until": "até {}",
        "between": "entre {} e {}|de {} (?:a|até) {}",
        "now": "agora|atualmente|no momento|hoje em dia|última vez|recentemente",
        "first": "(?:a |pela )?primeira vez|no início|originalmente|inicialmente",
        "past": "anteriormente|antigamente|naquela época|costumava",
        "when": "^(?:desde |até )?quando|(?:em )?que (?:dia|data)",
        "how long": "quanto tempo|por quanto",
        "how many": "quant[oa]s",
        "how much": "quant[oa]|com que frequência",
        "list": "quais|que [a-zãõáéíóúç]+[aeoõ]s|tod[oa]s (?:[oa]s )?(?:meus|minhas|[oa]s)",
        "yours": "você (?:me )?(?:disse|aconselhou|recomendou|sugeriu|propôs|deu|explicou)"
        "|segundo você|seus?|suas?",
        "own": "eu|me|mim|meus?|minhas?",
    },
    "it": {
        "numbers": "un[oa]? due tre quattro cinque sei sette otto nove dieci undici dodici",
        "article": "il|lo|la|l|i|gli|le|di|del|dello|della|dell|al|alla",
        "last": "(?:scors[oa]|passat[oa])",
        "before": "prima {}",
        "after": "dopo {}",
        "since": "(?:da|dal|dalla|dall) {}|a partire (?:da|dal) {}",
        "until": "(?:fino|sino)(?: a)? {}",
        "between": "(?:tra|fra) {} e {}|(?:da|dal) {} a? ?{}",
        "now": "adesso|attualmente|al momento|oggigiorno|ultima volta|di recente",
        "first": "(?:la |per la )?prima volta|all inizio|inizialmente|originariamente",
        "past": "precedentemente|in passato|un tempo|a quel tempo",
        "when": "^(?:da |fino a )?quando|(?:in )?che (?:giorno|data)",
        "how long": "(?:per |da )?quanto tempo",
        "how many": "quant[ie]",
        "how much": "quant[oa]|con che frequenza|ogni quanto",
        "list": "quali|tutt[ie] (?:i|le|gli)",
        "yours": "(?:mi )?(?:hai|avevi) (?:detto|consigliato|suggerito|proposto|dato|spiegato)"
        "|secondo te|tuo|tua|tuoi|tue",
        "own": "io|mi|me|mio|mia|mie|miei",
    },
    "nl": {
        "numbers": "een twee drie vier vijf zes zeven acht negen tien elf twaalf",
        "article": "de|het",
        "last": "(?:vorige?|afgelopen)",
        "before": "v(?:oo|óó)r {}|voordat {}",
        "after": "na {}",
        "since": "(?:sinds|vanaf) {}",
        "until": "tot(?: en met| aan)? {}",
        "between": "tussen {} en {}|van {} tot(?: en met)? {}",
        "now": "nu|momenteel|tegenwoordig|op dit moment|laatste keer|onlangs|intussen",
        "first": "(?:de |het )?eerste keer|oorspronkelijk|aanvankelijk|in het begin",
        "past": "vroeger|voorheen|destijds|toentertijd",
        "when": "^(?:sinds |tot |vanaf )?wanneer|op welke (?:dag|datum)|welke datum",
        "how long": "hoe ?lang",
        "how many": "hoeveel [a-z]+(?:en|s)",
        "how much": "hoeveel|hoe vaak|hoe duur|hoe (?:hoog|groot|oud|zwaar|ver)",
        "list": "welke [a-z]+(?:en|s)|al mijn|alle",
        "yours": "(?:heb|had) je|je (?:.* )?(?:gezegd|aangeraden|voorgesteld|aanbevolen)"
        "|volgens jou|jouw",
        "own": "ik|mij|me|mijn",
    },
    "zh": {
        "numbers": "一 [二两兩] 三 四 五 六 七 八 九 十 十一 十二",
        "article": "",
        "last": "上(?:个|個)?",
        "before": "在?{}(?:之前|以前|前)",
        "after": "在?{}(?:之后|之後|以后|以後|后|後)",
        "since": "(?:自从?|自從|从|從){}(?:以来|以來|起|开始|開始)?|{}(?:以来|以來|起|至今|到现在)",
        "until": "(?:到|直到|截至|截止到?){}(?:为止|為止)?",
        "between": "(?:从|從)?{}(?:到|至){}|{}(?:和|与|與){}之[间間]",
        "now": "现在|現在|目前|如今|当前|當前|最新|最近一次|上一?次",
        "first": "第一次|最初|最早|一开始|一開始|刚开始",
        "past": "以前|曾经|曾經|原先",
        "when": "什么时候|什麼時候|何时|哪一?[天年]|哪个月|几月|几号|幾月|幾號",
        "how long": "多久(?!.{0,6}一次)|多长时间|多長時間|几(?:[天年周]|个月|小时)(?!.?[前后後内])",
        "how many": "[几幾](?:个|個|次|本|位|件|家|双|张|种|只|辆|条|杯|套|部|台|场|趟|回)",
        "how much": "多少|多久.{0,6}一次|多大|多高|多重|多远",
        "list": "哪些|哪几|列出|列一下|都有(?:谁|什么)|分别是",
        "yours": "你(?:当时|之前|上次)?[说讲给提列写教选算]|你.?.?(?:建议|推荐)|[按据]你|你的",
        "own": "我",
    },
    "ja": {
        "numbers": "一 二 三 四 五 六 七 八 九 十 十一 十二",
        "article": "",
        "last": "(?:先週の?|前の)",
        "before": "{}(?:より前|以前|の?前)",
        "after": "{}(?:より後|以後|以降|の?後|のあと)",
        "since": "{}(?:から|以来)",
        "until": "{}まで",
        "between": "{}から{}(?:まで)?|{}と{}の間",
        "now": "今|いま|現在|最新|最近の|この前",
        "first": "初めて|はじめて|最初|当初|もともと",
        "past": "昔|かつて|以前は",
        "when": "いつ|何日|何月|何年に|どの日",
        "how long": "ど[のれ]くらいの?(?:期間|時間|間)|何(?:年|日|か月|ヶ月|週)間",
        "how many": "いくつ|何(?:個|回|人|本|冊|匹|台|枚|杯|軒|着|足|件|種類)",
        "how much": "いくら|どのくらい|どれくらい",
        "list": "すべて|全て|全部|一覧|列挙|どれとどれ",
        "yours": "あなた(?:は|が|の)|(?:すすめ|勧め|提案し)(?:てくれ)?(?:ました|た)",
        "own": "私|わたし|僕|ぼく|俺|自分",
    },
    "ko": {
        "numbers": "(?:한|하나) 두 세 네 다섯 여섯 일곱 여덟 아홉 열 열한 열두",
        "article": "",
        "last": "(?:지난주|지난)",
        "before": "{}(?:이전|전)",
        "after": "{}(?:이후|다음|후|뒤)",
        "since": "{}(?:부터|이래)",
        "until": "{}까지",
        "between": "{}(?:부터|에서){}까지|{}[과와]{}사이",
        "now": "지금|현재|요즘|최근에?|마지막으로",
        "first": "처음|최초|원래|애초",
        "past": "예전에?|옛날에?|과거에",
        "when": "언제|며칠|몇월|몇일|무슨날",
        "how long": "얼마나오래|얼마동안|몇(?:년|달|개월|주|일)(?:동안|간)",
        "how many": "몇(?:개|번|명|권|마리|대|장|잔|곳|가지|켤레|벌)",
        "how much": "얼마|몇살|얼마나자주",
        "list": "모두|모든|전부|목록",
        "yours": "(?:네가|너는|당신이).*(?:말했|추천했|제안했|알려)|추천해준|제안해준",
        "own": "나|내|제|저|내가|제가|나는|저는|나의|저의|우리",
    },
}  # fmt: skip
"""Regular expressions by language. ``{}`` is a time, with an article before it. ``numbers`` are the
words for 1 to 12. In unspaced scripts and Korean the text has no white space."""

_MORE: Mapping[str, Mapping[str, str]] = {
    "fr": {"8 day ago": "il y a huit jours"},
    "pt": {r"\1 day ago": r"(\d+) dias? atrás", r"\1 week ago": r"(\d+) semanas? atrás",
           r"\1 month ago": r"(\d+) m(?:ês|eses) atrás", r"\1 year ago": r"(\d+) anos? atrás"},
    "zh": {"1 day ago": "昨日|昨晚", "0 week ago": "(?:这|這)(?:个|個)?(?:周|週|星期|礼拜)",
           "1 week ago": "上(?:个|個)?(?:周|週|星期|礼拜|禮拜)",
           "2 week ago": "上上(?:周|週|个星期)",
           "0 month ago": "(?:这|這)(?:个|個)月", "2 month ago": "上上(?:个|個)月",
           "2 year ago": "前年", r"\1 week ago": r"(\d+)(?:个|個)?(?:周|週|星期|礼拜|禮拜)之?前",
           r"\1 day ago": r"(\d+)天之?前", r"\1 month ago": r"(\d+)(?:个|個)月之?前",
           r"\1 year ago": r"(\d+)年之?前"},
    "ja": {"1 day ago": "きのう|昨夜", "2 day ago": "おととい|一昨日", "2 month ago": "先々月",
           "2 year ago": "おととし|一昨年", r"\1 month ago": r"(\d+)[かヶカケ]?月前"},
    "ko": {"2 day ago": "그저께|그제|이틀전", "3 day ago": "사흘전",
           "1 week ago": "지난주|일주일전",
           "1 month ago": "저번달", "1 year ago": "지난해", "2 year ago": "재작년",
           "0 week ago": "이번주", r"\1 week ago": r"(\d+)주일?전", r"\1 month ago": r"(\d+)달전"},
}  # fmt: skip
"""Relative times that the data lack, in their form: what they mean, and how they are put."""

_MODULE = "dateparser.data.date_translation_data"
_MODULES = {"zh": ("zh", "zh-Hant")}
_UNSPACED = frozenset({"zh", "ja", "th", "ko"})
"""Languages that are read without white space; Korean has it where one likes."""
_SHORTEST_NAME = 4
_MOST_AGO = 400
_YEAR = r"(?:19|20)\d\d"
_UNITS = r"\s?(?:[€$£¥%°]|euro|dollar|franc|kilo|[kcm]?[gm]\b|[元块円원步歩个人])"
_DIGITS = {digit: number for number, digit in enumerate("〇一二三四五六七八九十")}
_COUNTED = "[0-9]{1,2}|[一二三四五六七八九十]{1,3}"
_EAST_ASIAN = (
    rf"(?:(?P<year>{_YEAR})[年년]の?)?(?P<month>{_COUNTED})(?:月|월)(?!份?[间間])份?"
    rf"(?:(?P<day>{_COUNTED})[日号號일]|(?P<part>上旬|初|中旬|下旬|末|底|초|중순|말))?"
    rf"|(?P<only>{_YEAR})[年년]"
)
_PARTS = {"上旬": (1, 10), "初": (1, 10), "초": (1, 10), "中旬": (11, 20), "중순": (11, 20)}
_LATE = (21, 31)
_NUMERIC = {
    "DMY": rf"(?<!\d)(?P<first>\d{{1,2}})[./-](?P<second>\d{{1,2}})[./-](?P<third>{_YEAR})(?!\d)",
    "YMD": rf"(?<!\d)(?P<third>{_YEAR})[./-](?P<second>\d{{1,2}})[./-](?P<first>\d{{1,2}})(?!\d)",
}
_MARK = 0xE000
"""The first character of the private use area: each stands for a time that has been read."""
_TIME = f"[{chr(_MARK)}-{chr(_MARK + 255)}]"
_LAST_DAY = "last day"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a question says, in a language that is not English."""

    time: QuestionTime = field(default_factory=lambda: QuestionTime(unread=True))
    enumerates: bool = False
    counts: bool = False
    is_own: bool = False
    of_assistant: bool = False


def read_question(question: str, now: datetime) -> Reading:
    """Read the times and cues of a question that is asked at ``now``. Never raises on any text."""
    found = Reading()
    for language in languages_of(question) or [""]:
        read = _Question(question, _language(language), now).reading()
        if read != Reading():
            return read
    return found


@dataclass(frozen=True, slots=True)
class _Language:
    """Compiled from the data of dateparser and from :data:`WORDS`."""

    spaced: bool
    numbers: tuple[tuple[re.Pattern[str], str], ...]
    relative: re.Pattern[str] | None
    meanings: Mapping[str, str]
    dates: re.Pattern[str]
    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    sides: tuple[tuple[str, re.Pattern[str]], ...]
    cues: Mapping[str, re.Pattern[str]]


class _Question:
    """A question that is being read: times that were read are replaced by marks."""

    def __init__(self, question: str, language: _Language, now: datetime) -> None:
        self._language = language
        self._now = now
        self._today = datetime(now.year, now.month, now.day, tzinfo=now.tzinfo or UTC)
        self._times: list[Time] = []
        self._text = _plain(question, spaced=language.spaced)

    def reading(self) -> Reading:
        """Read the times first, since "in diesem Jahr" has no "now" and "three days" no list."""
        for number, digits in self._language.numbers:
            self._text = number.sub(digits, self._text)
        if self._language.relative:
            self._text = self._language.relative.sub(self._relative, self._text)
        self._text = self._language.dates.sub(self._date, self._text)
        times = self._sided()
        cues = {name for name, pattern in self._language.cues.items() if pattern.search(self._text)}
        order: Order | None = None
        if not times and ("now" in cues) is not ("first" in cues) and "how long" not in cues:
            order = "last" if "now" in cues else "first"
        asks: Asks | None = "how long" if "how long" in cues else None
        if "when" in cues:
            asks = "when"
        time = QuestionTime(times, order=order, asks=asks, past="past" in cues, unread=True)
        counts = asks is None and not cues.isdisjoint({"how many", "how much"})
        listed = asks is None and not cues.isdisjoint({"how many", "list"})
        return Reading(
            time,
            enumerates=listed,
            counts=counts,
            is_own="own" in cues,
            of_assistant="yours" in cues,
        )

    def _mark(self, time: Time | None, written: str) -> str:
        if time is None or len(self._times) > 255:
            return written
        self._times.append(time)
        return chr(_MARK + len(self._times) - 1)

    def _relative(self, match: re.Match[str]) -> str:
        """Years, and months before days, become numbers, so that dates may contain them."""
        group = match.lastgroup or ""
        meaning = self._language.meanings[group]
        if meaning == _LAST_DAY:
            return self._mark(self._last_day(match[group], match[0]), match[0])
        number = next((int(found) for found in match.groups() if found and found.isdecimal()), 0)
        later, count, unit = _meaning(meaning, number)
        if count > _MOST_AGO or (later and unit == "day"):
            return match[0]
        count = -count if later else count
        if unit == "year":
            suffix = "" if self._language.spaced else "年"
            return f"{self._now.year - count}{suffix}"
        if unit == "month":
            year, month = divmod(self._now.year * 12 + self._now.month - 1 - count, 12)
            if self._language.spaced:
                return self._mark(NamedDate(year, month + 1), match[0])
            return f"{year}年{month + 1}月"
        start = self._today - timedelta(days=count * (7 if unit == "week" else 1))
        if unit == "week":
            start -= timedelta(days=start.weekday())
        return self._mark(TimeWindow(start, start + timedelta(days=7 if unit == "week" else 1)), "")

    def _last_day(self, name: str, written: str) -> TimeWindow | None:
        """The last such weekday before today; that of last week where the wording says so."""
        weekday = self._language.weekdays[name]
        if self._language.spaced:
            start = self._today - timedelta(days=(self._today.weekday() - weekday - 1) % 7 + 1)
        else:
            start = self._today - timedelta(days=self._today.weekday() + 7 - weekday)
        return TimeWindow(start, start + timedelta(days=1))

    def _date(self, match: re.Match[str]) -> str:
        found = match.groupdict()
        if found.get("third"):
            return self._mark(
                _named(found["third"], int(found["second"]), int(found["first"])), match[0]
            )
        if found.get("only"):
            return self._mark(NamedDate(int(found["only"])), match[0])
        written = found["month"] or ""
        month = self._language.months.get(written) or _number(written)
        if month is None or not 1 <= month <= 12:
            return match[0]
        if found.get("part"):
            year = int(found["year"]) if found["year"] else None
            days = _PARTS.get(found["part"], _LATE)
            return self._mark(_part_of_month(year, month, days, self._now), match[0])
        day = _number(found["day"])
        spelled = written in self._language.months and self._language.spaced
        if spelled and len(written) < _SHORTEST_NAME and not (found["year"] or day):
            prefixed = re.search(r"\w+\s$", match.string[: match.start("month")])
            if not prefixed or written not in _WHOLE_SHORT:
                return match[0]
        return self._mark(_named(found["year"], month, day), match[0])

    def _sided(self) -> tuple[Time, ...]:
        """The times in order, with "before", "since", "between" and the like."""
        for side, pattern in self._language.sides:
            for match in pattern.finditer(self._text):
                rows = [ord(mark) - _MARK for mark in match.groups() if mark]
                ends = [self._interval(self._times[row]) for row in rows]
                self._times[rows[0]] = _window(side, ends)
                for row in rows[1:]:
                    self._times[row] = self._times[rows[0]]
            self._text = pattern.sub(" ", self._text)
        years = [time for time in self._times if isinstance(time, NamedDate) and not time.month]
        months = [time for time in self._times if isinstance(time, NamedDate) and time.month]
        if len(years) == 1 and months and all(time.year is None for time in months):
            dated = [NamedDate(years[0].year, time.month, time.day) for time in months]
            rest = [time for time in self._times if not isinstance(time, NamedDate)]
            return tuple(dict.fromkeys([*rest, *dated]))
        return tuple(dict.fromkeys(self._times))

    def _interval(self, time: Time) -> tuple[datetime | None, datetime | None]:
        """The two ends of a time; without a year, of its last one that has begun."""
        if isinstance(time, TimeWindow):
            return time.start, time.end
        found = time.interval(self._now.year)
        if found and time.year is None and found[0] > self._now:
            found = time.interval(self._now.year - 1)
        return found or (None, None)


def _window(side: str, ends: list[tuple[datetime | None, datetime | None]]) -> TimeWindow:
    start, end = ends[0]
    match side:
        case "between":
            later = ends[1][1]
            return TimeWindow(start, later if start and later and later > start else end)
        case "before":
            return TimeWindow(None, start)
        case "until":
            return TimeWindow(None, end)
        case "since":
            return TimeWindow(start, None)
        case _:
            return TimeWindow(end, None)


def _plain(text: str, *, spaced: bool) -> str:
    """The text in NFKC and folded case, without marks; apostrophes and hyphens part words."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = re.sub(r"['’ʼ]|[\ue000-\uf8ff]|(?<!\d)-|-(?!\d)|[¿¡]", " ", folded)
    return " ".join(folded.split()) if spaced else "".join(folded.split())


def _named(year: str | None, month: int, day: int | None) -> NamedDate | None:
    """A date, or ``None`` if no year has it."""
    date = NamedDate(int(year) if year else None, month, day or None)
    return date if date.interval(2024) else None


def _number(written: str | None) -> int | None:
    """The number of up to two digits, or of Chinese ones up to 99."""
    if not written or written.isdecimal():
        return int(written) if written else None
    tens, ten, ones = written.rpartition("十")
    if not ten:
        return _DIGITS.get(ones) if len(ones) == 1 else None
    return (_DIGITS.get(tens, 1) if tens else 1) * 10 + (_DIGITS.get(ones, 0) if ones else 0)


def _part_of_month(
    year: int | None, month: int, days: tuple[int, int], now: datetime
) -> TimeWindow:
    """The first, second or last ten days of a month; without a year, of its last one."""
    chosen = year or (now.year if month <= now.month else now.year - 1)
    whole = NamedDate(chosen, month).interval(chosen)
    assert whole is not None  # such a month exists in every year
    first = whole[0] + timedelta(days=days[0] - 1)
    return TimeWindow(first, min(whole[0] + timedelta(days=days[1]), whole[1]))


def _meaning(meaning: str, number: int) -> tuple[bool, int, str]:
    """Whether "in 2 week" or "\\1 day ago" lies in the future, its count and its unit."""
    later = meaning.startswith("in ")
    count, unit, *_ = meaning.removeprefix("in ").split()
    return later, int(count) if count.isdecimal() else number, unit


# What is compiled for each language.

_WHOLE_SHORT = frozenset({"mai", "mei", "maj"})
"""Short names of months that are no abbreviations; "in", "en" or the like must precede them."""
_CUES = ("now", "first", "past", "when", "how long", "how many", "how much", "list", "own", "yours")
_DAYS_OF_WEEK = "monday tuesday wednesday thursday friday saturday sunday".split()


@lru_cache(maxsize=32)
def _language(name: str) -> _Language:
    """Compile a language; of one that dateparser does not know, only the year of a date is read."""
    infos = [*_infos(name)]
    spaced, words = name not in _UNSPACED, WORDS.get(name, {})
    months = _names(infos, MONTHS, spaced=spaced)
    weekdays = _names(infos, _DAYS_OF_WEEK, spaced=spaced)
    weekdays = {day: row for day, row in weekdays.items() if len(day) > 1 + 3 * spaced}
    relative, meanings = _relative_times(infos, name, words, weekdays)
    order = str(infos[0].get("date_order", "")) if infos else ""
    return _Language(
        spaced=spaced,
        numbers=tuple(_number_words(words, spaced=spaced)),
        relative=relative,
        meanings=meanings,
        dates=re.compile(_dates(months, order, words.get("article", ""), spaced=spaced)),
        months=months,
        weekdays={day: row - 1 for day, row in weekdays.items()},
        sides=tuple(
            (side, _sides(words[side], words["article"], spaced=spaced))
            for side in ("between", "before", "until", "since", "after")
            if side in words
        ),
        cues={cue: re.compile(_whole(words[cue], spaced=spaced)) for cue in _CUES if cue in words},
    )


def _infos(name: str) -> Iterable[Mapping[str, Any]]:
    """The data of dateparser for a language and its further scripts."""
    for module in _MODULES.get(name, (name,)) if name else ():
        try:
            yield import_module(f"{_MODULE}.{module}").info
        except ModuleNotFoundError:
            return


def _names(
    infos: Iterable[Mapping[str, Any]], english: Iterable[str], *, spaced: bool
) -> dict[str, int]:
    return {
        _plain(name, spaced=spaced).rstrip("."): number
        for info in infos
        for number, key in enumerate(english, 1)
        for name in info.get(key, ())
    }


def _whole(pattern: str, *, spaced: bool) -> str:
    return rf"(?<!\w)(?:{pattern})(?!\w)" if spaced else f"(?:{pattern})"


def _sides(templates: str, article: str, *, spaced: bool) -> re.Pattern[str]:
    time = rf"(?:(?:{article}) )*({_TIME})" if spaced else f"({_TIME})"
    return re.compile(_whole(templates.replace("{}", time), spaced=spaced))


def _number_words(
    words: Mapping[str, str], *, spaced: bool
) -> Iterable[tuple[re.Pattern[str], str]]:
    """Numbers that are written as words, the longest first.

    In unspaced scripts only before a unit and "ago": "星期一" has no 1.
    """
    numbers = [*enumerate(words.get("numbers", "").split(), 1)]
    before_unit = r"(?=(?:[天日周週月年달주]|[个個か][月星礼禮]|주일|週間|星期|礼拜).{0,2}[前전])"
    for value, spelled in sorted(numbers, key=lambda each: -len(each[1])):
        whole = _whole(spelled, spaced=True) if spaced else f"(?:{spelled}){before_unit}"
        yield re.compile(whole), str(value)


def _relative_times(
    infos: Iterable[Mapping[str, Any]],
    name: str,
    words: Mapping[str, str],
    weekdays: Mapping[str, int],
) -> tuple[re.Pattern[str] | None, Mapping[str, str]]:
    """One pattern for all relative times, with what each of its groups means in English."""
    spaced, found = name not in _UNSPACED, dict[str, str]()
    for info in infos:
        for meaning, wordings in info.get("relative-type", {}).items():
            for wording in wordings:
                plain = _without_article(_plain(wording, spaced=spaced))
                found[_any_ending(re.escape(plain).replace(r"\ ", " "), name, words)] = meaning
        for meaning, patterns in info.get("relative-type-regex", {}).items():
            for pattern in patterns:
                found[pattern.replace(" ", "" if not spaced else " ").casefold()] = meaning
    for meaning, more in _MORE.get(name, {}).items():
        found[more] = meaning
    kept = {
        pattern: meaning
        for pattern, meaning in found.items()
        if _meaning(meaning, 0)[2] in ("day", "week", "month", "year") and meaning != "0 day ago"
    }
    groups = [
        (re.sub(r"\((?!\?)[^()]*\)", r"(?<![\\d月월])(\\d{1,3})(?:[.,]\\d+)?", pattern), meaning)
        for pattern, meaning in sorted(kept.items(), key=lambda each: -len(each[0]))
    ]
    days = "|".join(sorted(map(re.escape, weekdays), key=len, reverse=True))
    if days and "last" in words:
        last = words["last"]
        groups = [(f"{last} ?(?P<DAY>{days})", _LAST_DAY), *groups]
        if spaced:
            groups = [(f"(?P<DAY>{days}) {last}", _LAST_DAY), *groups]
    named, meanings = [], dict[str, str]()
    for row, (pattern, meaning) in enumerate(groups):
        meanings[f"m{row}"] = meaning
        inner = pattern.replace("(?P<DAY>", f"(?P<m{row}>")
        named.append(inner if meaning == _LAST_DAY else f"(?P<m{row}>{inner})")
    return (re.compile(_whole("|".join(named), spaced=spaced)) if named else None), meanings


def _without_article(wording: str) -> str:
    """ "le mois dernier" is "mois dernier", since it may also be "du mois dernier"."""
    first, _, rest = wording.partition(" ")
    return rest if len(first) <= 2 and " " in rest else wording


def _any_ending(wording: str, name: str, words: Mapping[str, str]) -> str:
    """The data have German in one case each; and each "last" stands for its synonyms."""
    if name == "de":
        wording = re.sub(r"e[nrs]? (?=\w)", "e[mnrs]? ", wording)
        wording = re.sub(r"(?<=jahr)$|(?<=monat)$", "(?:e?s)?", wording)
        return wording.replace("letzte[mnrs]?", words["last"])
    for last in (r"\bpassad[oa]\b", r"\bpasad[oa]\b", r"\bscors[oa]\b", r"\bvorige?\b",
                 r"\bderni[eè]re?\b"):  # fmt: skip
        wording = re.sub(last, words.get("last", last), wording)
    return wording


def _dates(months: Mapping[str, int], order: str, article: str, *, spaced: bool) -> str:
    numeric = _NUMERIC["YMD" if not spaced else "DMY"]
    if not spaced:
        return f"{numeric}|{_EAST_ASIAN}"
    names = "|".join(sorted(map(re.escape, months), key=len, reverse=True)) or r"(?!)"
    joints = rf"(?:(?:{article}|de) )*" if article else "(?:de )?"
    named = (
        rf"(?<!\w)(?:(?P<day>[0-3]?\d)(?:\.|º|er|o)? ?(?:de )?)?(?<!\d)(?<![a-z])"
        rf"(?P<month>{names})(?!\w)\.?(?: {joints}(?P<year>{_YEAR})(?!\d))?"
    )
    return rf"{numeric}|{named}|(?<![\d.,])(?P<only>{_YEAR})(?![\d]|[.,]\d|{_UNITS})"
