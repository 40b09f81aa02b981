"""Entity resolution: decide which names denote the same entity. Independent of any store."""
