// what: the server's limits on the memory and the time of a transaction
// parameters: names: of the settings
// returns: name, value
SHOW SETTINGS YIELD name, value
WHERE name IN $names
RETURN name, value
