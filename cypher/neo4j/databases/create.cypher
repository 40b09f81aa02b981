// what: create a database and wait until it is online; runs in the database system
// parameters: name
CREATE DATABASE $name IF NOT EXISTS WAIT
