"""What a user's Cypher may do: the lexer, the read-only check and the confinement to one space."""
