package control

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/journal"
)

func TestNote(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		n, saved, err := d.Notes.Add(d.Context(), anna, "  Posts\u0007 links.\r\nBe patient. ")
		if err != nil || !saved || n.Text != "Posts links.\nBe patient." || n.Author != "berta" || n.ID != 1 || n.At.IsZero() {
			t.Errorf("%+v, %v, %v", n, saved, err)
		}
		deleter := journal.Target{ChannelID: channel, UserID: anna.UserID, Author: "carol"}
		if _, _, err := d.Notes.Delete(d.Context(), journal.Target{ChannelID: channel, UserID: "another"}, n.ID); !errors.Is(err, ErrNoNote) {
			t.Errorf("of another user: %v", err)
		}
		if detail := fmt.Sprint(d.store.detail); strings.Contains(detail, "links") {
			t.Errorf("the audit says %s", detail)
		}
		if deleted, saved, err := d.Notes.Delete(d.Context(), deleter, n.ID); err != nil || !saved || deleted != n {
			t.Errorf("%+v, %v, %v", deleted, saved, err)
		}
		if _, _, err := d.Notes.Delete(d.Context(), deleter, n.ID); !errors.Is(err, ErrNoNote) {
			t.Errorf("a second time: %v", err)
		}
		d.wantAudits("1 note id of anna by berta", "1 delete_note id of anna by carol")
		if detail := d.store.detail.(journal.NoteDetail); detail.By != "berta" {
			t.Errorf("the audit says %+v", detail)
		}
	})
}

func TestNote_Refused(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		for text, says := range map[string]string{
			" \n\t":                                "the note is empty",
			strings.Repeat("x", journal.MaxNote+1): "1001 bytes, and at most 1000",
		} {
			if _, _, err := d.Notes.Add(d.Context(), anna, text); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%.20q: %v, want %q", text, err, says)
			}
		}
		if len(d.store.notes)+len(d.store.audits) > 0 {
			t.Errorf("%v, %v", d.store.notes, d.store.audits)
		}
	})
}
