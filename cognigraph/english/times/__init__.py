"""Time expressions in English sentences, resolved relative to the time of the message."""
