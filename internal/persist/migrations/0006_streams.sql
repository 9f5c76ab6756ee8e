-- The streams of each channel. A short interruption belongs to its stream.
CREATE TABLE stream (
	channel_id TEXT NOT NULL,
	start      INTEGER NOT NULL,
	seen       INTEGER NOT NULL, -- when it was last known to run; its end once it has ended
	ended      INTEGER NOT NULL, -- 1: it has ended; 0: it runs, or nobody could ask
	PRIMARY KEY (channel_id, start)
) STRICT, WITHOUT ROWID;

CREATE INDEX stream_seen ON stream (seen); -- retention

-- Who was throttled how often in a period, without the rows.
CREATE INDEX journal_throttling ON journal (channel_id, at, user_id, outcome_result, outcome_action);
