package host

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/policies"
)

// room is the tests' channel.
const room = "room"

var quiet = persist.Options{Logger: slog.New(slog.DiscardHandler)}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newGuard returns a Guard that allows each user one message an hour.
func newGuard(t *testing.T) *chatguard.Guard {
	t.Helper()
	policy := config.DefaultPolicy()
	policy.Mode = chatguard.ModeEnforce
	policy.Limits[0].Burst, policy.Limits[0].Refill = 1, time.Hour
	guard, err := chatguard.New(policy, nil)
	must(t, err)
	return guard
}

func openFile(t *testing.T, path string) *Host {
	t.Helper()
	h, err := Open(t.Context(), path, quiet)
	must(t, err)
	return h
}

func openMemory(t *testing.T) *Host {
	t.Helper()
	h, err := OpenMemory(t.Context(), quiet)
	must(t, err)
	t.Cleanup(func() { h.Close() })
	return h
}

// restore joins a Guard and restores its state.
func restore(t *testing.T, h *Host, guard *chatguard.Guard, o Options) {
	t.Helper()
	err := h.Join(guard, o)
	if err == nil {
		_, err = h.Restore(t.Context())
	}
	must(t, err)
}

// finish runs a Host whose program ends at once, and closes it.
func finish(t *testing.T, h *Host) {
	t.Helper()
	ended, end := context.WithCancel(t.Context())
	end()
	must(t, h.Run(ended))
	must(t, h.Close())
}

func say(t *testing.T, guard *chatguard.Guard) chatguard.Verdict {
	t.Helper()
	v, err := guard.Check(t.Context(), chatguard.Message{ChannelID: room, User: chatguard.User{ID: "anna"}})
	must(t, err)
	return v
}

// recorder records its notifications as text. It panics on those that no test expects.
type recorder struct {
	policies.Follower
	got []string
}

func (r *recorder) Observe(_ chatguard.Message, v chatguard.Verdict) {
	r.got = append(r.got, fmt.Sprint("allowed ", v.Allowed))
}
func (r *recorder) Report(o journal.Outcome) {
	r.got = append(r.got, fmt.Sprint(o.Action, " ", o.Result))
}
func (r *recorder) Revised(journal.Revision) { r.got = append(r.got, "revised") }
func (r *recorder) Saved(channelID string)   { r.got = append(r.got, "saved "+channelID) }

func (r *recorder) want(t *testing.T, want string) {
	t.Helper()
	if got := strings.Join(r.got, ", "); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOpenMemory_LeavesState checks that a Host in memory doesn't take the state that another Host
// saves.
func TestOpenMemory_LeavesState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chatguard.db")
	file, memory, guard := openFile(t, path), openMemory(t), newGuard(t)
	restore(t, file, guard, Options{})
	restore(t, memory, guard, Options{})
	say(t, guard)
	finish(t, memory)
	finish(t, file)
	again, guard := openFile(t, path), newGuard(t)
	restore(t, again, guard, Options{})
	if say(t, guard).Allowed {
		t.Error("a restart forgets a message")
	}
	finish(t, again)
	if state := memory.Database().State; state != journal.DatabaseOff {
		t.Errorf("the state in memory is %s", state)
	}
}

func TestReport_DroppedUnlessTheProgramActs(t *testing.T) {
	for acts, want := range map[bool]string{false: "allowed true, allowed false, drop done", true: "allowed true, allowed false"} {
		h, guard, r := openMemory(t), newGuard(t), &recorder{}
		restore(t, h, guard, Options{Acts: acts})
		h.Follow(r)
		say(t, guard)
		v := say(t, guard)
		r.want(t, want)
		if acts {
			h.Report(journal.Outcome{Entry: v.EntryID, Action: chatguard.ActionBan, Result: journal.Done})
			r.want(t, want+", ban done")
		}
	}
}

func TestJoin_DefaultRaid(t *testing.T) {
	hour := SettingsOf(config.Default())
	hour.Raid.Lasts = control.Duration(time.Hour)
	for want, settings := range map[time.Duration]*control.Settings{config.Default().Raid.Lasts: nil, time.Hour: &hour} {
		h, guard := openMemory(t), newGuard(t)
		restore(t, h, guard, Options{Settings: settings})
		before := time.Now().Truncate(time.Second)
		until, _, err := h.Controls.Raids.Start(t.Context(), room, "berta", 0)
		if err != nil || until.Before(before.Add(want)) || until.After(time.Now().Add(want)) {
			t.Errorf("until %s, %v, want %s", until, err, want)
		}
		has := func(l chatguard.Limit) bool { return l.Name == "raid" }
		if !slices.ContainsFunc(inner.Of(guard).InForce(room).Limits, has) {
			t.Errorf("in force are %+v", inner.Of(guard).InForce(room).Limits)
		}
	}
}

// If the users' state is elsewhere, the rows of the database are neither read nor changed: they may
// be copied to the shared store later.
func TestRestore_StateElsewhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chat.db")
	h, guard := openFile(t, path), newGuard(t)
	restore(t, h, guard, Options{})
	say(t, guard)
	finish(t, h)

	h, guard = openFile(t, path), newGuard(t)
	must(t, h.Join(guard, Options{StateElsewhere: true}))
	stats, err := h.Restore(t.Context())
	if err != nil || stats.Rows != 0 {
		t.Errorf("%d rows are restored, %v", stats.Rows, err)
	}
	if n := h.kept.Memory().Users; n != 0 {
		t.Errorf("%d users are in memory", n)
	}
	if v := say(t, guard); !v.Allowed {
		t.Error("the Guard knows the state of the database")
	}
	finish(t, h)

	h, guard = openFile(t, path), newGuard(t)
	restore(t, h, guard, Options{})
	if v := say(t, guard); v.Allowed {
		t.Error("the database has lost its state")
	}
	finish(t, h)
}

// Where only a room's own policy enforces, strikes count from one start to the next: the policy is
// restored before them, because strikes of practice end when a room begins to enforce.
func TestRestore_StrikesOfRoomThatEnforces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chat.db")
	synctest.Test(t, func(t *testing.T) {
		for start := range 2 {
			h, guard := openFile(t, path), newGuard(t)
			observing := guard.Policy()
			observing.Mode = chatguard.ModeObserve
			must(t, guard.SetPolicy(observing))
			restore(t, h, guard, Options{})
			if start == 0 {
				_, err := h.Policies.Revise(t.Context(), policies.Request{ChannelID: room, Author: "berta"}, func(p chatguard.Policy) (chatguard.Policy, error) {
					p.Mode = chatguard.ModeEnforce
					return p, nil
				})
				must(t, err)
				say(t, guard)
			}
			if v := say(t, guard); v.Allowed || v.Strikes != start+1 {
				t.Errorf("start %d: allowed %t, %d strikes", start+1, v.Allowed, v.Strikes)
			}
			finish(t, h)
			time.Sleep(time.Minute) // to the next strike
		}
	})
}

// TestRepeats checks that the journal and the followers say how often a text was written.
func TestRepeats(t *testing.T) {
	guard, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{
		{Name: "copies", Per: chatguard.PerText, Algorithm: chatguard.TokenBucket, Burst: 1, Refill: time.Hour},
	}}, nil)
	must(t, err)
	path := filepath.Join(t.TempDir(), "chatguard.db")
	h := openFile(t, path)
	restore(t, h, guard, Options{})
	var entry chatguard.EntryID
	for _, user := range []string{"anna", "berta"} {
		v, err := guard.Check(t.Context(), chatguard.Message{ChannelID: room, User: chatguard.User{ID: user}, Text: "the same text again"})
		must(t, err)
		entry = v.EntryID
	}
	want := journal.Repeats{Times: 1, People: 2, Window: "10m"}
	check := func(when string, h *Host) {
		t.Helper()
		if e, ok, err := h.Store.Entry(t.Context(), entry); err != nil || !ok || e.Repeats != want {
			t.Errorf("%s: %+v, %v, %v", when, e.Repeats, ok, err)
		}
	}
	if got := h.Repeats.Of(entry); got != want {
		t.Errorf("for the followers: %+v", got)
	}
	check("pending", h)
	finish(t, h)
	again := openFile(t, path)
	check("stored", again)
	must(t, again.Close())
}
