// what: read the server's limits on memory and time of a transaction
// parameters: names (of the settings)
// returns: name, value
SHOW SETTINGS YIELD name, value
WHERE name IN $names
RETURN name, value
