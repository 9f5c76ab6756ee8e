-- Times are Unix nanoseconds in UTC; NULL where there is none. Texts are UTF-8. IDs are the platform's, as text.

PRAGMA application_id = 0x63686774; -- "chgt"

-- What each user has spent of each limit of a channel, as bytes that only the Guard understands. limit_name '' holds the user's strikes.
CREATE TABLE state (
	channel_id TEXT NOT NULL,
	user_id    TEXT NOT NULL,
	limit_name TEXT NOT NULL,
	data       BLOB NOT NULL,
	PRIMARY KEY (channel_id, user_id, limit_name)
) STRICT, WITHOUT ROWID;

-- One row per throttled (or, while observing, would-be throttled) message, and what was done about it. IDs rise with time.
CREATE TABLE journal (
	id             INTEGER PRIMARY KEY,
	at             INTEGER NOT NULL, -- the message's time
	channel_id     TEXT NOT NULL,
	user_id        TEXT NOT NULL,
	login          TEXT NOT NULL,
	display_name   TEXT NOT NULL,
	message_id     TEXT NOT NULL,
	text           TEXT NOT NULL,
	limit_name     TEXT NOT NULL,
	may_speak_at   INTEGER,          -- NULL: waiting never helps
	reset_at       INTEGER,
	strikes        INTEGER NOT NULL,
	penalty        TEXT NOT NULL,    -- as in the configuration: "timeout 30s"
	outcome_at     INTEGER NOT NULL,
	outcome_action TEXT NOT NULL,
	outcome_result TEXT NOT NULL,    -- pending, done, failed, skipped, observed
	outcome_reason TEXT NOT NULL
) STRICT;

CREATE INDEX journal_channel ON journal (channel_id); -- a channel's entries, newest first: the ID is part of every index
CREATE INDEX journal_at ON journal (at);              -- retention
CREATE INDEX journal_may_speak_at ON journal (may_speak_at);
CREATE INDEX journal_pending ON journal (id) WHERE outcome_result = 'pending';

-- The changes of each channel's policy, numbered 1, 2, 3 … in the channel. The last one is in force.
CREATE TABLE revision (
	channel_id TEXT NOT NULL,
	number     INTEGER NOT NULL,
	author     TEXT NOT NULL,
	at         INTEGER NOT NULL,
	policy     TEXT,          -- JSON of the whole policy; NULL: back to the configuration
	changes    TEXT NOT NULL, -- JSON of what differs from the configuration
	PRIMARY KEY (channel_id, number)
) STRICT, WITHOUT ROWID;

-- One-time sign-in codes and sessions, by the SHA-256 of the random value that only its holder has.
CREATE TABLE token (
	hash       BLOB NOT NULL PRIMARY KEY,
	kind       TEXT NOT NULL, -- code, session
	name       TEXT NOT NULL, -- whom it signs in
	expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
