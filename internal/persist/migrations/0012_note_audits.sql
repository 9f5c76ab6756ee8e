-- The texts of notes are in the notes only, so that a deleted note leaves none.
UPDATE audit SET detail = json_remove(detail, '$.text') WHERE action IN ('note', 'delete_note') AND json_valid(detail);
