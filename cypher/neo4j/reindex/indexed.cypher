// what: list the spaces whose layer has a vector index of its own
//   (SpaceFacts replaces Space for triples and themes)
// parameters: indexed (name of the property that records it)
MATCH (owner:Space )
WHERE owner.name > '' AND owner[$indexed]
RETURN collect(owner.name)
