// what: spaces whose layer has a vector index of its own
//   (for triples and themes, SpaceFacts stands for Space)
// parameters: indexed (the property that says so)
// returns: names
MATCH (owner:Space )
WHERE owner.name > '' AND owner[$indexed]
RETURN collect(owner.name)
