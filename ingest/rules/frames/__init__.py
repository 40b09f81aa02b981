"""Frames of statements about slots: how a state, its change and its end are worded.

The clause reader (:mod:`cognigraph.ingest.rules.read_statements`) takes a sentence literally: it
stores the verb that was said. Frames know what many wordings say of one slot, and state it in the
wording that the table of slots knows (:mod:`cognigraph.states.slot_table`).

==================  ==============================================================================
module              contains
==================  ==============================================================================
``lexicon``         the words of the grammar: verbs of change by what they do, words by slot
``table``           the frames: a pattern of words and typed values, and what it states
``plain``           a sentence in the plain form that frames are matched with
``mood``            which sentences assert nothing: questions, wishes, fiction, jokes
``whose``           whose thing it is, and which
``match``           the statements of a sentence, and how they join those of the clause reader
==================  ==============================================================================
"""
