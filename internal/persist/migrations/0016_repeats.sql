-- How often the text of a message was written that a limit on repeated text throttled; see journal.Repeats.
ALTER TABLE journal ADD COLUMN repeat_times  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE journal ADD COLUMN repeat_people INTEGER NOT NULL DEFAULT 0;
ALTER TABLE journal ADD COLUMN repeat_window TEXT NOT NULL DEFAULT '';
