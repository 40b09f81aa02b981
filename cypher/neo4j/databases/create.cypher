// what: create a database and wait until it is online; runs in the database system
CREATE DATABASE $name IF NOT EXISTS WAIT
