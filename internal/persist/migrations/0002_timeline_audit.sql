-- Who spoke when, with which roles and at which cost; not what. Previews of a policy run on it.
CREATE TABLE timeline (
	channel_id TEXT NOT NULL,
	at         INTEGER NOT NULL, -- the message's time
	number     INTEGER NOT NULL, -- tells messages of one instant apart, and keeps their order
	user_id    TEXT NOT NULL,
	login      TEXT NOT NULL,
	roles      INTEGER NOT NULL, -- a bit for each role
	cost       INTEGER NOT NULL,
	PRIMARY KEY (channel_id, at, number)
) STRICT, WITHOUT ROWID;

-- Who changed what. IDs rise with time.
CREATE TABLE audit (
	id         INTEGER PRIMARY KEY,
	at         INTEGER NOT NULL,
	author     TEXT NOT NULL,
	action     TEXT NOT NULL, -- policy, discard, grant, reset, pardon, override
	channel_id TEXT NOT NULL,
	user_id    TEXT NOT NULL, -- '' where no single user is meant
	detail     TEXT NOT NULL  -- JSON of what the action was given
) STRICT;

CREATE INDEX audit_at ON audit (at); -- retention

-- The channels that were moderated, so that their names are known before the platform tells them.
CREATE TABLE channel (
	id    TEXT NOT NULL PRIMARY KEY,
	login TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What undoing a penalty has to know of the verdict. Entries from before can be pardoned without it.
ALTER TABLE journal ADD COLUMN cost       INTEGER NOT NULL DEFAULT 1;
ALTER TABLE journal ADD COLUMN late       INTEGER NOT NULL DEFAULT 0; -- how much later than at it counted, in nanoseconds
ALTER TABLE journal ADD COLUMN counted    INTEGER NOT NULL DEFAULT 0; -- how many of its cost count all the same
ALTER TABLE journal ADD COLUMN series     INTEGER NOT NULL DEFAULT 0; -- of the strikes
ALTER TABLE journal ADD COLUMN new_strike INTEGER NOT NULL DEFAULT 0; -- 1 when it gave the last of them
