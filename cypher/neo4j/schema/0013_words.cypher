// what: delete the word counts that earlier versions kept in the database; processes count the words
//   of the newest chunks themselves
MATCH (kept:CogniGraph) WHERE kept.words IS NOT NULL
DELETE kept;
