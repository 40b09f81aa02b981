"""English: sentences and tokens, word classes, verb forms, time expressions."""
