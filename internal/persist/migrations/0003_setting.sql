-- Small things about a channel that have to outlive the process: that it is paused, until when a raid lasts, which slow mode is to be put back.
CREATE TABLE setting (
	channel_id TEXT NOT NULL,
	name       TEXT NOT NULL,
	value      TEXT NOT NULL, -- never ''
	PRIMARY KEY (channel_id, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX journal_user ON journal (channel_id, user_id, login); -- a user's entries, newest first; and who is called so, without the rows
