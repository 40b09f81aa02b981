// what: create the indexes of slots and of what users said of facts; each statement ends with a
//   semicolon

// holder is the uid of the entity whose slot it is: the subject's or the object's.
CREATE INDEX triple_slot IF NOT EXISTS FOR (n:Triple) ON (n.holder, n.slot);
// The uid is that of the triple.
CREATE CONSTRAINT state_ruling_uid IF NOT EXISTS FOR (n:StateRuling) REQUIRE n.uid IS UNIQUE;
