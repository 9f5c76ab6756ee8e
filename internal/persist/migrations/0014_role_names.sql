-- The names of roles and of kinds of messages, separated by commas, in place of a bit for each: a program may have roles of its own.
ALTER TABLE timeline ADD COLUMN role_names TEXT NOT NULL DEFAULT '';
UPDATE timeline SET role_names = substr(iif(roles & 64, ',broadcaster', '') || iif(roles & 32, ',lead_moderator', '') || iif(roles & 16, ',moderator', '')
	|| iif(roles & 8, ',vip', '') || iif(roles & 4, ',subscriber', '') || iif(roles & 1, ',first_timer', ''), 2) WHERE roles != 0;
ALTER TABLE timeline DROP COLUMN roles;
ALTER TABLE timeline RENAME COLUMN role_names TO roles;

ALTER TABLE timeline ADD COLUMN kinds TEXT NOT NULL DEFAULT '';
UPDATE timeline SET kinds = substr(iif(kind & 1, ',bits', '') || iif(kind & 2, ',power_up', '') || iif(kind & 4, ',hype_chat', '') || iif(kind & 8, ',reward', '')
	|| iif(kind & 16, ',highlighted', '') || iif(kind & 32, ',resub', '') || iif(kind & 64, ',watch_streak', ''), 2) WHERE kind != 0;
ALTER TABLE timeline DROP COLUMN kind;

ALTER TABLE person ADD COLUMN role_names TEXT NOT NULL DEFAULT '';
UPDATE person SET role_names = substr(iif(roles & 64, ',broadcaster', '') || iif(roles & 32, ',lead_moderator', '') || iif(roles & 16, ',moderator', '')
	|| iif(roles & 8, ',vip', '') || iif(roles & 4, ',subscriber', '') || iif(roles & 1, ',first_timer', ''), 2) WHERE roles != 0;
ALTER TABLE person DROP COLUMN roles;
ALTER TABLE person RENAME COLUMN role_names TO roles;
