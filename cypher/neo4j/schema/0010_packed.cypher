// what: since this version chunks, triples and themes have what ranking needs of them in one
//   property of bytes; see stores/neo4j/index/packed.py
