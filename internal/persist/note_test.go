package persist

import (
	"fmt"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

func (s *Store) mustNote(t *testing.T, channelID, userID, text string) journal.Note {
	t.Helper()
	n, err := s.AddNote(journal.Note{At: start, ChannelID: channelID, UserID: userID, Author: "anna", Text: text})
	must(t, err)
	return n
}

func wantNotes(t *testing.T, s *Store, when string, want ...journal.Note) {
	t.Helper()
	if got := s.Notes("1", "7"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", when, got, want)
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	path := newDatabase(t)
	s := open(t, path, &Options{Now: at(start)})
	g := guardOf(t, s, policy())
	first := s.mustNote(t, "1", "7", "first")
	other := s.mustNote(t, "2", "7", "in another channel")
	second := s.mustNote(t, "1", "7", "second")
	wantNotes(t, s, "pending", second, first)
	s.mustFlush(t, g)
	if n := len(s.notebook.pending.peek()); n != 0 {
		t.Errorf("%d pending after the flush", n)
	}
	third := s.mustNote(t, "1", "7", "third")
	written := s.notebook.pending.peek() // a flush that takes long
	if deleted, ok, err := s.DeleteNote("1", "7", third.ID); err != nil || !ok || deleted != third {
		t.Errorf("%+v, %v, %v", deleted, ok, err)
	}
	s.notebook.pending.stored(written)
	_, _, err := s.DeleteNote("1", "7", first.ID)
	must(t, err)
	for _, id := range []int64{first.ID, third.ID, other.ID, 99} {
		if _, ok, err := s.DeleteNote("1", "7", id); ok || err != nil {
			t.Errorf("note %d of this user: %v, %v", id, ok, err)
		}
	}
	s.mustFlush(t, g)
	wantNotes(t, s, "deleted", second)
	must(t, s.Close())
	s = open(t, path, &Options{Now: at(start)})
	wantNotes(t, s, "opened again", second)
	if noted := s.NotedUsers("1"); len(noted) != 1 || noted["7"] != 1 {
		t.Errorf("%v", noted)
	}
	if next := s.mustNote(t, "1", "7", "next"); next.ID <= second.ID {
		t.Errorf("the next note has the ID %d", next.ID)
	}
}

func TestNotes_Bounded(t *testing.T) {
	t.Parallel()
	s := open(t, newDatabase(t), &Options{Now: at(start)})
	for range journal.MaxNotes {
		s.mustNote(t, "1", "7", "again")
	}
	_, err := s.AddNote(journal.Note{ChannelID: "1", UserID: "7"})
	wantError(t, err, "20 notes", "delete one")
	s.mustNote(t, "1", "8", "of another user")
	s.notebook.channels["1"] = journal.MaxChannelNotes
	_, err = s.AddNote(journal.Note{ChannelID: "1", UserID: "9"})
	wantError(t, err, "channel", "10000 notes")
	s.mustNote(t, "2", "9", "in another channel")
	s.notebook.all = journal.MaxAllNotes
	_, err = s.AddNote(journal.Note{ChannelID: "2", UserID: "9"})
	wantError(t, err, "all channels", "100000 notes")
}

// A user with a note is found by name for as long as the note lasts.
func TestFindNoted(t *testing.T) {
	t.Parallel()
	now := start
	s, g := openWithGuard(t, &Options{Now: func() time.Time { return now }})
	s.observeMessage("1", "7", "anna", start, 0)
	s.observeMessage("1", "8", "berta", start.Add(time.Second), 0)
	s.observeMessage("1", "9", "joanna", start.Add(2*time.Second), 0)
	s.mustNote(t, "1", "7", "x")
	s.mustNote(t, "1", "9", "x")
	s.mustNote(t, "1", "5", "on a user who never spoke")
	s.mustFlush(t, g)
	now = start.AddDate(0, 0, 40)
	for range 2 {
		s.sweeper.at = time.Time{}
		s.runTurn(ctx, g)
	}
	s.wantRows(t, "person", 2)
	for text, want := range map[string]string{"": "9 7 5", "an": "7 9", "5": "5", "berta": ""} {
		wantPeople(t, text, want)(s.FindNoted(ctx, "1", text, 9))
	}
}
