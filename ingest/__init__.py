"""The write path: messages to chunks at once, chunks to entities and triples afterwards."""

if __name__ != "cognigraph.ingest":
    raise ImportError("import this package as cognigraph.ingest, not from the source folder")
