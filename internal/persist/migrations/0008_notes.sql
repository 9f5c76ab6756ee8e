-- What moderators have noted about users. Kept until somebody deletes it.
CREATE TABLE note (
	id         INTEGER PRIMARY KEY,
	at         INTEGER NOT NULL,
	channel_id TEXT NOT NULL,
	user_id    TEXT NOT NULL,
	author     TEXT NOT NULL,
	text       TEXT NOT NULL
) STRICT;

CREATE INDEX note_user ON note (channel_id, user_id); -- retention of people
