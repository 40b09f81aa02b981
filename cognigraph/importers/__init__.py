"""Read files with conversations and notes, message by message.

Each format is a :class:`~cognigraph.importers.record.Reader` in a module of its own. A reader takes
an opened file and yields mappings that :meth:`cognigraph.Message.of` takes, with their positions;
it keeps no more than one conversation or section in memory, and stores nothing.
"""
