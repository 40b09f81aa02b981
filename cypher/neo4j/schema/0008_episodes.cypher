// what: create the index of episodes (themes that cover chunks) by their end; themes of older
//   versions cover nothing until their session's summary is written again
CREATE INDEX theme_newest IF NOT EXISTS FOR (n:Theme) ON (n.space, n.ended_at);
