// what: read product, versions and edition of the server
// returns: name, versions, edition
CALL dbms.components() YIELD name, versions, edition
RETURN name, versions, edition
