-- Facts that an application stated, and when a message is to be forgotten.

ALTER TABLE message_data ADD COLUMN facts TEXT;      -- JSON; the text says the same in words
ALTER TABLE message_data ADD COLUMN expires INTEGER;
CREATE INDEX message_data_expires ON message_data(space_id, expires) WHERE expires IS NOT NULL;
CREATE INDEX message_data_facts ON message_data(space_id) WHERE facts IS NOT NULL;
