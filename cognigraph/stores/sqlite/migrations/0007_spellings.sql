-- Every chunk keeps how it spells what it mentions: nothing ('') for what is spelled in its
-- normalised form. The canonical spelling is found among them when the chunk that gave it is read
-- again. What older versions wrote (NULL) agrees with what is canonical.

ALTER TABLE mention ADD COLUMN spelled TEXT;
ALTER TABLE evidence ADD COLUMN spelled TEXT;        -- subject, relation and object
ALTER TABLE alias_source ADD COLUMN spelled TEXT;
