// what: read which of some indexes there are, whether they can be used, and how far they are built
// returns: name, state, percentage that is built, why the server could not build it
SHOW INDEXES YIELD name, state, populationPercent, failureMessage WHERE name IN $names
RETURN name, state, populationPercent, failureMessage
