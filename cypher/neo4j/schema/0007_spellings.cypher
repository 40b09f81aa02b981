// what: nothing to change; from this version on the relationships MENTIONS, EVIDENCE and STATED_IN
//   keep how a chunk spells an entity, a triple or an alias, which older versions would lose
