-- Where a person comes from: link or token. A session has the origin of what it began with. For older sessions that is the token
-- that their name had, if any.
ALTER TABLE token ADD COLUMN origin TEXT NOT NULL DEFAULT 'link';
UPDATE token SET origin = 'token' WHERE kind = 'token' OR kind = 'session' AND EXISTS (
	SELECT 1 FROM token AS made WHERE made.kind = 'token' AND made.name = token.name AND made.access = token.access AND made.made_at <= token.made_at);

-- Moderators could also change notices, which now needs own access. Those from before still can.
UPDATE token SET access = 'moderate-notices' WHERE access = 'moderate';
