"""Vector, full-text and lexical indexes of Neo4j, as the search uses them."""
