-- Names as the chat shows them, for searching. '' where the name equals the login.
ALTER TABLE timeline ADD COLUMN display_name TEXT NOT NULL DEFAULT '';
ALTER TABLE person   ADD COLUMN display_name TEXT NOT NULL DEFAULT '';
-- The folded names that differ from the login, one per line; '' for most users.
ALTER TABLE person   ADD COLUMN name_key     TEXT NOT NULL DEFAULT '';

-- The journal knows the names of the users whom it mentions.
UPDATE person SET display_name = ifnull((
	SELECT iif(display_name = person.login, '', display_name) FROM journal WHERE login = person.login AND id = (
		SELECT max(id) FROM journal INDEXED BY journal_user WHERE channel_id = person.channel_id AND user_id = person.user_id)), '');
UPDATE person SET name_key = chatguard_name_key(login, display_name);

CREATE INDEX person_name ON person (channel_id, name_key) WHERE name_key <> ''; -- who is called so, or how that begins
