// what: read nothing, at a state of the database that is at least that of the session's bookmarks
RETURN 1
