"""Credentials kept out of what is shown: split from addresses, and redacted in quoted text.

An address is split where it enters (:func:`without_credentials`), so that what is shown, logged and
stored of it holds none. What a server says may still quote a key that was sent to it, or another's.
"""

from __future__ import annotations

import base64
import re
from binascii import Error as NotBase64
from collections.abc import Callable, Iterable
from itertools import groupby
from operator import itemgetter
from urllib.parse import quote, unquote

from cognigraph.text.terms import printable

HIDDEN = "***"
_LONGEST_QUOTE = 300
_READ = 20_000
_PART = 6
"""So many characters of a secret in succession are a part of it that is not shown either."""

_ADDRESS = re.compile(r"(?<![\w+.-])[\w+.-]+://(?P<rest>\S+)")
_WEB_HOST = re.compile(r"(?:[^/?#]*@)?(?:\[[^\]/?#@]*\]|[^:/?#@]*)(?::\d*)?(?=[/?#]|\Z)")
_IN_QUERY = re.compile(
    r"(?<=[?&;])((?:api|access|secret|private|client|auth)?[-_]?(?:key|token|secret|password|sig|"
    r"signature|credentials?)=)[^\s&#;'\"]+",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"""((?:authorization|x-api-key|api[-_ ]?key|access[-_ ]?token|client[-_ ]?secret|secret[-_ ]key
        |pass(?:word|wd|phrase))["']?(?:\s+(?:provided|given|is|was))?\s*[:=]\s*["']?)
        (?!\.\.\.)(?:(?:bearer|basic|digest|token)\s+)?[^\s"',;)}\]]+""",
    re.IGNORECASE | re.VERBOSE,
)
# After the name of a scheme: what is not a word, such as "authentication", which often follows it.
_SCHEME = re.compile(
    r"\b((?:bearer|basic|digest|negotiate)[\s:=]+['\"]?)(?![A-Za-z]?[a-z]+\b(?![._~+/=*-]\S))"
    r"[\w.~+/=*-]{4,}",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"\b(?:(?:(?i:sk|pk|rk)|gsk|xai|hf|cg|gh[opsu]|github_pat|glpat|xox[abprs]|pplx|nvapi)"
    r"[-_](?=[\w*.…•-]{0,200}(?:\d|[*•…]|\.\.))[\w*.…•-]{4,}"
    r"|AIza[\w-]{10,}|AKIA[A-Z0-9]{8,}|eyJ[\w-]{8,}(?:\.[\w-]+)*"
    r"|\w{2,}[*•]{3,}\w+)"  # a key of which the middle is left out
)
_BASE64 = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{8,}={0,2}(?![\w+/=-])")
_OPAQUE = re.compile(r"(?<![\w+/=.-])(?=[A-Za-z+]*\d)(?=[\d+]*[A-Za-z])[A-Za-z0-9+]{28,}={0,2}")


def without_credentials(address: str) -> tuple[str, tuple[str, str] | None]:
    """Split the address of a server into one without user and password, and these two, decoded.

    They end at the last ``@``, because passwords with ``/`` or ``#`` are often written as they are;
    only the path of a web address may have an ``@`` of its own. Other text is left alone.

    >>> without_credentials("bolt://neo4j:p%40ss@host:7687")
    ('bolt://host:7687', ('neo4j', 'p@ss'))
    """
    scheme, separator, rest = address.partition("://")
    length = len(rest)
    if scheme.lower() in ("http", "https") and (host := _WEB_HOST.match(rest)):
        length = host.end()
    before, at, after = rest[:length].rpartition("@")
    if not separator or not at:
        return address, None
    user, _, password = before.partition(":")
    return f"{scheme}://{after}{rest[length:]}", (unquote(user), unquote(password))


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """The text with ``***`` in the place of these secrets and of what is marked as a credential.

    Of a secret its parts of six characters are hidden too, in upper and lower case, in base64 and
    as it is written in a URL. Other text is unchanged.
    """
    for secret in secrets:
        text = _without(text, secret)
    text = _ADDRESS.sub(_without_user, text)
    for marked in (_IN_QUERY, _NAMED, _SCHEME):
        text = marked.sub(rf"\1{HIDDEN}", text)
    return text


def quoted(text: str, secrets: Iterable[str] = ()) -> str:
    """What a server said, short enough for an error message, on one line, without credentials.

    What looks like a key is hidden too. Of addresses the host is left, because paths and parameters
    tell of the inside of the server.
    """
    shown = redacted(printable(text[:_READ]), secrets)
    shown = _KEY.sub(HIDDEN, shown)
    shown = _BASE64.sub(lambda run: HIDDEN if _is_login(run[0]) else run[0], shown)
    shown = " ".join(_OPAQUE.sub(HIDDEN, shown).split())
    shown = _ADDRESS.sub(_host, shown)
    return shown if len(shown) <= _LONGEST_QUOTE else f"{shown[: _LONGEST_QUOTE - 3].rstrip()}..."


def quoting(secrets: Iterable[str]) -> Callable[[str], str]:
    """:func:`quoted` for a server that knows these secrets."""
    known = tuple(secret for secret in secrets if secret)
    return lambda text: quoted(text, known)


def _without_user(address: re.Match[str]) -> str:
    shown, login = without_credentials(address[0])
    return shown.replace("://", f"://{HIDDEN}@", 1) if login else shown


def _host(address: re.Match[str]) -> str:
    rest = re.split(r"[/?#'\"<>(),;\\]", address["rest"], maxsplit=1)[0].rpartition("@")[2]
    return rest.rstrip(".:") or HIDDEN


def _without(text: str, secret: str) -> str:
    """The text without a secret, the forms in which it is sent, and longer parts of these."""
    lowered = _lower(text)
    hidden = [False] * len(text)
    for form in {_lower(form) for form in _forms(secret)}:
        size = min(_PART, len(form))
        parts = {form[at : at + size] for at in range(len(form) - size + 1)}
        for at in range(len(text) - size + 1):
            if lowered[at : at + size] in parts:
                hidden[at : at + size] = [True] * size
    runs = groupby(zip(text, hidden, strict=True), key=itemgetter(1))
    return "".join(
        HIDDEN if is_hidden else "".join(character for character, _ in run)
        for is_hidden, run in runs
    )


def _forms(secret: str) -> set[str]:
    """A secret as it is, as a part of a URL, and as a part of what was encoded in base64."""
    data = secret.encode("utf-8", "surrogatepass")
    found = {secret, quote(data, safe=""), base64.b64encode(data).decode()}
    for lead in range(3):  # the encoding depends on the position; the outer characters on others
        whole = base64.b64encode(b"\0" * lead + data).decode().rstrip("=")
        inner = whole[(0, 2, 3)[lead] : len(whole) - (1 if (lead + len(data)) % 3 else 0)]
        if len(inner) >= _PART:
            found |= {inner, inner.replace("+", "-").replace("/", "_")}
    return found - {""}


def _lower(text: str) -> str:
    """In lower case, character by character, so that positions stay."""
    return "".join(low if len(low := c.lower()) == 1 else c for c in text)


def _is_login(run: str) -> bool:
    """Whether a run of characters is ``user:password`` in base64."""
    plain = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        said = base64.b64decode(plain + "=" * (-len(plain) % 4)).decode("ascii")
    except (NotBase64, UnicodeDecodeError):
        return False
    return ":" in said[1:] and said.isprintable()
