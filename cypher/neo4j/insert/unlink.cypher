// what: remove links between chunks where late chunks are inserted
// parameters: pairs: [[uid, uid of the next chunk]]
UNWIND $pairs AS pair
MATCH (:Chunk {uid: pair[0]})-[next:NEXT]->(:Chunk)
WHERE endNode(next).uid = pair[1]
DELETE next
