-- Each user of a channel as they were last seen there.
CREATE TABLE person (
	channel_id TEXT NOT NULL,
	user_id    TEXT NOT NULL,
	login      TEXT NOT NULL,
	roles      INTEGER NOT NULL, -- a bit for each role
	last_seen  INTEGER NOT NULL,
	PRIMARY KEY (channel_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX person_login ON person (channel_id, login COLLATE NOCASE); -- who is called so, or how that begins
CREATE INDEX person_last_seen ON person (channel_id, last_seen);        -- who spoke last, and retention

-- How much of a message's cost wasn't spent: it was throttled, observed or exempt. What came before is taken for spent.
ALTER TABLE timeline ADD COLUMN unspent INTEGER NOT NULL DEFAULT 0;

-- What a user's messages have spent in each quarter of an hour; those without any are left out.
CREATE TABLE quarter_hour (
	channel_id TEXT NOT NULL,
	user_id    TEXT NOT NULL,
	at         INTEGER NOT NULL, -- its beginning
	spent      INTEGER NOT NULL,
	PRIMARY KEY (channel_id, user_id, at)
) STRICT, WITHOUT ROWID;

CREATE INDEX quarter_hour_at ON quarter_hour (at); -- retention

-- Both are made of the timeline behind. Of each channel this is the last message that is in them: they have all that is before it.
CREATE TABLE rolled_up (
	channel_id TEXT NOT NULL PRIMARY KEY,
	at         INTEGER NOT NULL,
	number     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX journal_failed ON journal (id) WHERE outcome_result = 'failed'; -- few, among which one looks most

-- Whoever the journal knows was there, too; it doesn't say with which roles.
INSERT INTO person SELECT channel_id, user_id, login, 0, max(at) FROM journal GROUP BY channel_id, user_id;
