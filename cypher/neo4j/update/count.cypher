// what: count chunks and terms into the totals of a space after a message was updated
// parameters: space, chunks, length (increases)
MATCH (space:Space {name: $space})
SET space.chunks = space.chunks + $chunks, space.length = space.length + $length
