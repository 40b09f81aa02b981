// what: since this version what is said later wins, and the table of slots has other slots; the
//   facts are decided again, see stores/neo4j/states.py
