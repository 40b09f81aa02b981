"""Text that often reveals bugs: any Unicode, with special characters more frequent."""

from __future__ import annotations

from hypothesis import strategies as st

_NASTY = (
    "\0\x01\x1b\x7f\n\r\t \u00a0\u2028\ufeff\u200b\u200d\ufe0f\u0301\u0345\u20e3\u202e\u2067"
    "'’ʼ\"“()[]{}<>|*_^~:;,.!?…。？؟-+/\\%$#@&="
    "aZ09ßİıſŉﬁΣςǅÅÅ\u1e9e猫かガ가힣ไทมक्षிहिन्दीשָׁلاעִ𝒜🙂👩🏽🇳🇴\U000e0067"
)
ANY_CHARACTER = st.one_of(
    st.sampled_from(_NASTY),
    st.characters(),
    st.characters(categories=["Cs"]),  # lone surrogates
)
ANY_TEXT = st.text(ANY_CHARACTER, max_size=60)
STORABLE_TEXT = st.text(
    st.one_of(st.sampled_from(_NASTY), st.characters(exclude_categories=["Cs"])), max_size=60
)
