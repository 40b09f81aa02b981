// what: list the databases of users that are online; runs in the database system
SHOW DATABASES YIELD name, type, aliases, currentStatus
WHERE type = 'standard' AND currentStatus = 'online'
RETURN DISTINCT name, aliases
