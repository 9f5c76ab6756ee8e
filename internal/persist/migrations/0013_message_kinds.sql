-- The kinds of messages that aren't ordinary, a bit for each. The policy may exempt them.
ALTER TABLE timeline ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;
