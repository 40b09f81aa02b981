-- How each chunk spells what it mentions, '' for a name in its normalised form. The canonical
-- spelling is recomputed from these when the chunk that determined it is extracted again. NULL, as
-- in rows of older versions, stands for the canonical spelling.

ALTER TABLE mention ADD COLUMN spelled TEXT;
ALTER TABLE evidence ADD COLUMN spelled TEXT;        -- subject, relation and object
ALTER TABLE alias_source ADD COLUMN spelled TEXT;
