"""Time expressions in English sentences, resolved against the time of speaking."""
