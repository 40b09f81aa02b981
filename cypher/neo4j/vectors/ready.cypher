// what: record that all triples or themes of a space have the label and that the index is online
MATCH (owner:SpaceFacts {name: $space})
SET owner[$property] = true
