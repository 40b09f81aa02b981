// what: read product, versions and edition of the server
CALL dbms.components() YIELD name, versions, edition
RETURN name, versions, edition
