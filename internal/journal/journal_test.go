package journal

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

func TestDiffAndApply(t *testing.T) {
	base := chatguard.DefaultPolicy()
	changed := base.Clone()
	changed.Mode = chatguard.Enforce
	changed.Limits[0].Refill = 1500 * time.Millisecond
	changed.Limits[0].Roles = map[chatguard.Role]chatguard.Override{chatguard.VIP: {Burst: 9}, chatguard.Subscriber: {}}
	changed.Limits[1] = chatguard.Limit{Name: "other", Algorithm: chatguard.TokenBucket, Burst: 7, Refill: time.Minute}
	changed.Penalties.Ladder = changed.Penalties.Ladder[:1]

	changes := Diff(base, changed)
	want := []string{
		"limit.burst.refill: 4s -> 1.5s",
		"limit.burst.roles.subscriber: <nil> -> map[]",
		"limit.burst.roles.vip.burst: <nil> -> 9",
		"limit.daily.algorithm: daily-window -> <nil>",
		"limit.daily.messages: 300 -> <nil>",
		"limit.daily.reset_at: 00:00 -> <nil>",
		"limit.other.algorithm: <nil> -> token-bucket",
		"limit.other.burst: <nil> -> 7",
		"limit.other.refill: <nil> -> 1m",
		"mode: observe -> enforce",
		"penalties.ladder: [delete delete warn timeout 30s timeout 10m] -> [delete]",
	}
	var got []string
	for _, c := range changes {
		got = append(got, fmt.Sprintf("%s: %v -> %v", c.Key, c.From, c.To))
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if len(Diff(base, base.Clone())) != 0 {
		t.Error("a policy differs from itself")
	}

	stored, err := json.Marshal(changes)
	if err != nil {
		t.Fatal(err)
	}
	var restored []Change
	if err := json.Unmarshal(stored, &restored); err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]Change{changes, restored} {
		if back, left := Apply(base, list); left != nil || !reflect.DeepEqual(back, changed) {
			t.Errorf("applied: %+v, left %v\nwant %+v", back, left, changed)
		}
	}
}

func TestChangesFollowANewConfiguration(t *testing.T) {
	// What was changed live stays changed; what wasn't follows the file.
	file := chatguard.DefaultPolicy()
	live := file.Clone()
	live.Limits[0].Burst, live.Mode = 5, chatguard.Enforce
	changes := Diff(file, live)
	file.Limits[1].Messages = 500
	got, left := Apply(file, changes)
	if left != nil || got.Limits[0].Burst != 5 || got.Limits[1].Messages != 500 || got.Mode != chatguard.Enforce {
		t.Errorf("got %+v, left %v", got, left)
	}
	file.Limits = file.Limits[1:] // a change of a limit that is gone would make half a limit
	got, left = Apply(file, changes)
	if len(left) != 1 || left[0].Key != "limit.burst.burst" || got.Mode != chatguard.Enforce || !reflect.DeepEqual(got.Limits, file.Limits) {
		t.Errorf("got %+v, left %v", got, left)
	}
}

func TestNewEntry(t *testing.T) {
	at := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	m := chatguard.Message{ID: "m", ChannelID: "1", User: chatguard.User{ID: "7", Login: "anna", DisplayName: "Anna"}, Text: "hi", SentAt: at}
	v := chatguard.Verdict{
		At: at, ChannelID: "1", UserID: "7", Limit: "burst", RetryAfter: time.Second, ResetAt: at.Add(time.Hour), EntryID: 3, Strikes: 2,
		Penalty: chatguard.Penalty{Action: chatguard.Warn},
	}
	e := NewEntry(m, v)
	want := Entry{
		ID: 3, At: at, ChannelID: "1", UserID: "7", Login: "anna", DisplayName: "Anna", MessageID: "m", Text: "hi", Limit: "burst",
		MaySpeakAt: at.Add(time.Second), ResetAt: at.Add(time.Hour), Strikes: 2, Penalty: v.Penalty,
		Outcome: Outcome{Entry: 3, At: at, Action: chatguard.Warn, Result: Pending},
	}
	if e != want {
		t.Errorf("got %+v\nwant %+v", e, want)
	}
	v.Allowed, v.Observed, v.Never, v.WouldBe, v.Penalty = true, true, true, v.Penalty, chatguard.Penalty{}
	e = NewEntry(m, v)
	if e.Penalty.Action != chatguard.Warn || e.Outcome.Result != Observed || e.Outcome.Action != chatguard.NoAction || !e.MaySpeakAt.IsZero() {
		t.Errorf("observed: %+v", e)
	}
}
