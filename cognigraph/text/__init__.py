"""Text in any language: cleaning, stemmed terms, BM25 and token estimates."""
