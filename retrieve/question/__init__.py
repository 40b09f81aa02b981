"""Reading a question: its terms, entities, times and the form of its answer."""
