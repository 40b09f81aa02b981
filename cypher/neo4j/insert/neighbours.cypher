// what: find the two older chunks of its session between which each late chunk belongs
// parameters: base (largest arrival number of an older chunk), chunks: [{uid, session, at}]
// returns: uid, uid of the previous chunk, uid of the next chunk (null at either end)
UNWIND $chunks AS late
CALL (late) {
  OPTIONAL MATCH (older:Chunk) USING INDEX older:Chunk(session_uid, at, seq)
  WHERE older.session_uid = late.session AND older.at <= late.at AND older.seq IS NOT NULL
    AND older.seq <= $base
  RETURN older.uid AS before
  ORDER BY older.session_uid DESC, older.at DESC, older.seq DESC LIMIT 1
}
CALL (late) {
  OPTIONAL MATCH (older:Chunk) USING INDEX older:Chunk(session_uid, at, seq)
  WHERE older.session_uid = late.session AND older.at > late.at AND older.seq IS NOT NULL
    AND older.seq <= $base
  RETURN older.uid AS after
  ORDER BY older.session_uid, older.at, older.seq LIMIT 1
}
RETURN late.uid, before, after
