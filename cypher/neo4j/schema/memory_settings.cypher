// what: read the server's limits on memory and time of a transaction
// parameters: names (of the settings)
SHOW SETTINGS YIELD name, value
WHERE name IN $names
RETURN name, value
