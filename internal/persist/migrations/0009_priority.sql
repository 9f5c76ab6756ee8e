-- 1 for messages that passed at low priority.
ALTER TABLE timeline ADD COLUMN low INTEGER NOT NULL DEFAULT 0;

-- 1 for throttled messages that would have been of low priority. A pardon needs it.
ALTER TABLE journal ADD COLUMN low INTEGER NOT NULL DEFAULT 0;
