"""Writers of a core profile, episodes, facts and procedures, after MemBuilder."""
