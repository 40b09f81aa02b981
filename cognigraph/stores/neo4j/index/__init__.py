"""Vector and full-text indexes of Neo4j, and word counts, as a search uses them."""
