-- The webhooks that people have made, and the states of all webhooks.
CREATE TABLE webhook (
	id       TEXT NOT NULL PRIMARY KEY,
	settings TEXT NOT NULL, -- JSON with address and secret; '' for a webhook of the configuration
	state    TEXT NOT NULL  -- JSON: when it last worked, and what is wrong
) STRICT, WITHOUT ROWID;

-- Events that wait to be sent to a webhook, and those that were given up.
CREATE TABLE webhook_delivery (
	id         INTEGER PRIMARY KEY,
	webhook_id TEXT NOT NULL,
	queued_at  INTEGER NOT NULL,
	event      TEXT NOT NULL,    -- JSON
	tries      INTEGER NOT NULL, -- that have failed
	next_at    INTEGER,          -- NULL: nothing delays the next try
	dead_at    INTEGER,          -- when it was given up; NULL while it waits
	reason     TEXT NOT NULL
) STRICT;
