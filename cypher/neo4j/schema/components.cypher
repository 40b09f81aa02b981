// what: read product, versions and edition of the server
// parameters: none
// returns: name, versions, edition
CALL dbms.components() YIELD name, versions, edition
RETURN name, versions, edition
