-- A fact that was said again after it had ended was true before: [[from, until], ...], microseconds.

ALTER TABLE triple ADD COLUMN earlier TEXT NOT NULL DEFAULT '[]';
