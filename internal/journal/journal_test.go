package journal

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/penalties"
)

func TestNewEntry(t *testing.T) {
	at := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	m := chatguard.Message{ID: "m", ChannelID: "1", User: chatguard.User{ID: "7", Login: "anna", DisplayName: "Anna"}, Text: "hi", SentAt: at}
	v := chatguard.Verdict{
		At: at, ChannelID: "1", UserID: "7", Limit: "burst", RetryAfter: time.Second, ResetAt: at.Add(time.Hour), EntryID: 3, Strikes: 2,
		Penalty: chatguard.Penalty{Action: penalties.Warn}, Late: 5, Counted: 2, Series: 4, NewStrike: true,
	}
	e := NewEntry(m, v)
	want := Entry{
		ID: 3, At: at, ChannelID: "1", UserID: "7", Login: "anna", DisplayName: "Anna", MessageID: "m", Text: "hi", Limit: "burst",
		MaySpeakAt: OptionalTime{at.Add(time.Second)}, ResetAt: at.Add(time.Hour), Strikes: 2, Penalty: v.Penalty,
		Cost: 1, Offence: Offence{Late: 5, Counted: 2, Series: 4, NewStrike: true},
		Outcome: Outcome{Entry: 3, At: at, Action: penalties.Warn, Result: Pending},
	}
	if e != want {
		t.Errorf("got %+v\nwant %+v", e, want)
	}
	v.Allowed, v.Observed, v.Never, v.WouldBe, v.Penalty = true, true, true, v.Penalty, chatguard.Penalty{}
	e = NewEntry(m, v)
	if e.Penalty.Action != penalties.Warn || e.Outcome.Result != Observed || e.Outcome.Action != "" || !e.MaySpeakAt.IsZero() {
		t.Errorf("observed: %+v", e)
	}
	if text, err := json.Marshal(e); err != nil || !strings.Contains(string(text), `"may_speak_at":null`) {
		t.Errorf("never: %s, %v", text, err)
	}
}

// The zero time is null, and the form that earlier versions wrote for it can be read.
func TestOptionalTime(t *testing.T) {
	at := time.Date(2026, 1, 5, 0, 0, 0, 7, time.UTC)
	for text, want := range map[string]time.Time{`null`: {}, `"0001-01-01T00:00:00Z"`: {}, `"2026-01-05T00:00:00.000000007Z"`: at} {
		var got OptionalTime
		if err := json.Unmarshal([]byte(text), &got); err != nil || !got.Equal(want) || got.IsZero() != want.IsZero() {
			t.Errorf("%s: %v, %v", text, got, err)
		}
		again, err := json.Marshal(got)
		if wanted := strings.ReplaceAll(text, `"0001-01-01T00:00:00Z"`, "null"); err != nil || string(again) != wanted {
			t.Errorf("%s: written as %s, %v", text, again, err)
		}
	}
}
