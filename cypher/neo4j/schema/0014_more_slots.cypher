// what: since this version loving something is the slot of liking it; the facts are decided again,
//   see stores/neo4j/states.py
