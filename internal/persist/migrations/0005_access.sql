-- What a code and its session let their holder do: view, moderate, own, check. Those from before are the owner's own.
ALTER TABLE token ADD COLUMN access  TEXT    NOT NULL DEFAULT 'own';
-- When it was made, or what it began with. Beside codes and sessions there are now named tokens, and a note of when a name was revoked.
ALTER TABLE token ADD COLUMN made_at INTEGER NOT NULL DEFAULT 0;
