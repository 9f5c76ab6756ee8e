-- A keyed hash of the message's text, after a mark of the key, until text_retention; NULL for none. Previews of limits on repeated text run on it.
ALTER TABLE timeline ADD COLUMN print BLOB;
