package journal

import "time"

// The bounds of notes.
const (
	MaxNote         = 1000    // bytes of a note's text
	MaxNotes        = 20      // notes on a user
	MaxChannelNotes = 10_000  // notes in a channel
	MaxAllNotes     = 100_000 // notes in all channels
)

// Note is a moderator's note on a user.
type Note struct {
	// ID is unique among all notes. It is 0 until the store has numbered the note.
	ID        int64     `json:"id"`
	At        time.Time `json:"at"`
	ChannelID string    `json:"channel"`
	UserID    string    `json:"user_id"`
	Author    string    `json:"author"`
	Text      string    `json:"text"` // one or more lines
}
