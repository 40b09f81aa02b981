"""The in-memory search index of one space of a SQLite file."""
