package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/penalties"
)

// fakeChat is a chat that carries out acts and knows the user's timeout or ban.
type fakeChat struct {
	given   []string
	known   journal.Silence
	forgets bool  // it knows nothing, as after a restart
	refusal error // of every act
	takes   time.Duration
}

func (f *fakeChat) give(s journal.Silence, format string, args ...any) error {
	time.Sleep(f.takes)
	if f.refusal != nil {
		return f.refusal
	}
	f.known, f.given = s, append(f.given, fmt.Sprintf(format, args...))
	return nil
}

func (f *fakeChat) acts() Acts {
	return Acts{
		Serves: func(channelID string) bool { return channelID == channel },
		Silence: func(string, string) (journal.Silence, bool) {
			return f.known, !f.forgets && f.known != (journal.Silence{})
		},
		Recall: func(_ journal.Target, s journal.Silence) { f.known, f.forgets = s, false },
		TimeOut: func(_ context.Context, t journal.Target, length time.Duration, reason string) error {
			return f.give(journal.Silence{Until: time.Now().Add(length), By: t.Author}, "%s timed out for %s: %q", t.UserID, length, reason)
		},
		Ban: func(_ context.Context, t journal.Target, reason string) error {
			return f.give(journal.Silence{Banned: true, By: t.Author}, "%s banned: %q", t.UserID, reason)
		},
		Lift: func(_ context.Context, t journal.Target) error {
			return f.give(journal.Silence{Until: time.Now()}, "%s lifted", t.UserID)
		},
	}
}

// inActs runs a test in simulated time with Controls that act in a fakeChat.
func inActs(t *testing.T, play func(d *harness, f *fakeChat)) {
	t.Helper()
	inBubble(t, Raid{}, func(d *harness) {
		f := &fakeChat{}
		d.Join(Chat{Acts: f.acts()})
		play(d, f)
	})
}

// wantGiven fails the test unless these are the acts and the changes in the audit since the last
// call.
func (d *harness) wantGiven(f *fakeChat, given, audits []string) {
	d.Helper()
	if !slices.Equal(f.given, given) || !slices.Equal(d.store.audits, audits) {
		d.Errorf("given %q, want %q; audit %q, want %q", f.given, given, d.store.audits, audits)
	}
	f.given, d.store.audits = nil, nil
}

// An act is carried out once and recorded with its length and reason, also while the channel only
// observes or is paused.
func TestActs_CarriedOutOnce(t *testing.T) {
	for name, prepare := range map[string]func(d *harness) error{
		"enforcing": func(*harness) error { return nil },
		"observing": func(d *harness) error {
			_, err := d.Commands.setMode(d.Context(), channel, "berta", chatguard.ModeObserve)
			return err
		},
		"paused": func(d *harness) error { _, err := d.Switches.Pause(d.Context(), channel, "berta"); return err },
		"held":   func(d *harness) error { return d.Switches.Hold(channel, "no moderator") },
	} {
		inActs(t, func(d *harness, f *fakeChat) {
			must(t, prepare(d))
			d.store.audits = nil
			done, err := d.Silences.TimeOut(d.Context(), anna, 89*time.Second+1, "spam", false)
			if s := done.Silence; err != nil || !done.Saved || s == nil || time.Until(s.Until) != 90*time.Second || s.By != "berta" || done.Former != nil {
				t.Errorf("%s: timed out: %+v, %v", name, done, err)
			}
			if detail := d.store.detail.(journal.TimeoutDetail); detail.Length != "1m30s" || detail.Reason != "spam" {
				t.Errorf("%s: %v", name, detail)
			}
			done, err = d.Silences.Ban(d.Context(), anna, "")
			if s := done.Silence; err != nil || s == nil || !s.Banned || done.Already || done.Former == nil || done.Former.Banned {
				t.Errorf("%s: banned: %+v, %v", name, done, err)
			}
			if detail := d.store.detail.(journal.BanDetail); detail.Former != done.Former {
				t.Errorf("%s: recorded %+v, want the timeout", name, detail)
			}
			done, err = d.Silences.LiftBan(d.Context(), anna)
			if err != nil || done.Silence != nil || done.Former == nil || done.Former.By != "berta" {
				t.Errorf("%s: lifted: %+v, %v", name, done, err)
			}
			if detail := d.store.detail.(journal.LiftDetail); !detail.Banned || detail.Former != done.Former {
				t.Errorf("%s: recorded %+v, want the ban", name, detail)
			}
			d.wantGiven(f, []string{`id of anna timed out for 1m30s: "spam"`, `id of anna banned: ""`, "id of anna lifted"},
				[]string{"1 timeout id of anna by berta", "1 ban id of anna by berta", "1 lift id of anna by berta"})
		})
	}
}

// A refused act has no effect and is not recorded.
func TestActs_Refused(t *testing.T) {
	inActs(t, func(d *harness, f *fakeChat) {
		elsewhere := anna
		elsewhere.ChannelID = "check:lobby"
		long := strings.Repeat("a", maxReason+1)
		for name, err := range map[string]error{
			"no length":             errorOf(d.Silences.TimeOut(d.Context(), anna, 0, "", false)),
			"over 14 days":          errorOf(d.Silences.TimeOut(d.Context(), anna, penalties.MaxTimeout+1, "", false)),
			"a long reason":         errorOf(d.Silences.Ban(d.Context(), anna, long)),
			"a reason of two lines": errorOf(d.Silences.TimeOut(d.Context(), anna, time.Minute, "a\nb", false)),
			"elsewhere":             errorOf(d.Silences.Ban(d.Context(), elsewhere, "")),
			"lifted elsewhere":      errorOf(d.Silences.LiftBan(d.Context(), elsewhere)),
		} {
			if err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		f.refusal = errors.New("the bot is no moderator here")
		if err := errorOf(d.Silences.TimeOut(d.Context(), anna, time.Minute, "", false)); !errors.Is(err, f.refusal) {
			t.Error(err)
		}
		if err := errorOf(d.Silences.LiftTimeout(d.Context(), anna)); !errors.Is(err, f.refusal) {
			t.Error(err)
		}
		d.wantGiven(f, nil, nil)
	})
}

// A timeout that would shorten another, or follow a ban, needs a confirmation.
func TestTimeOut_NeverSilentlyShorter(t *testing.T) {
	inActs(t, func(d *harness, f *fakeChat) {
		for _, c := range []struct {
			known   journal.Silence
			length  time.Duration
			refusal string
		}{
			{journal.Silence{Until: time.Now().Add(time.Hour), By: "twitch:mo"}, time.Minute, "the user is timed out for another 60 min, by mo: a timeout of 60 s would be shorter"},
			{journal.Silence{Until: time.Now().Add(time.Hour)}, time.Minute, "the user is timed out for another 60 min: a timeout of 60 s would be shorter"},
			{journal.Silence{Banned: true, By: "carla"}, penalties.MaxTimeout, "the user is banned, by carla: a timeout of 14 days would be shorter"},
			{journal.Silence{Until: time.Now().Add(time.Hour)}, time.Hour, ""},
		} {
			f.known = c.known
			_, err := d.Silences.TimeOut(d.Context(), anna, c.length, "", false)
			if c.refusal != "" && (!errors.As(err, new(SilencedError)) || err.Error() != c.refusal) || c.refusal == "" && err != nil {
				t.Errorf("%+v, %s: %v", c.known, c.length, err)
			}
			if done, err := d.Silences.TimeOut(d.Context(), anna, c.length, "", true); err != nil || done.Silence == nil || d.store.detail.(journal.TimeoutDetail).Former != done.Former {
				t.Errorf("confirmed: %+v, %v", done, err)
			}
		}
	})
}

// A ban of a banned user succeeds and says so; a lift without a timeout or ban does the same.
// Neither is recorded.
func TestActs_Already(t *testing.T) {
	inActs(t, func(d *harness, f *fakeChat) {
		f.refusal, f.known = ErrBanned, journal.Silence{Banned: true, By: "twitch:mo"}
		if done, err := d.Silences.Ban(d.Context(), anna, ""); err != nil || !done.Already || done.Silence.By != "twitch:mo" || !done.Saved {
			t.Errorf("banned: %+v, %v", done, err)
		}
		f.refusal, f.known = ErrNotSilenced, journal.Silence{}
		if done, err := d.Silences.LiftTimeout(d.Context(), anna); err != nil || !done.Already || done.Silence != nil {
			t.Errorf("lifted: %+v, %v", done, err)
		}
		d.wantGiven(f, nil, nil)
	})
}

// A person who acts on a user while another one does is told what that one did, although the chat
// hadn't confirmed it yet.
func TestActs_TwoAtOnce(t *testing.T) {
	inActs(t, func(d *harness, f *fakeChat) {
		f.takes = time.Second
		go d.Silences.TimeOut(d.Context(), anna, time.Hour, "", false)
		synctest.Wait()
		other := anna
		other.Author = "carla"
		done, err := d.Silences.TimeOut(d.Context(), other, time.Minute, "", false)
		if !errors.As(err, new(SilencedError)) || err.Error() != "the user is timed out for another 60 min, by berta: a timeout of 60 s would be shorter" {
			t.Errorf("%+v, %v", done, err)
		}
		d.wantGiven(f, []string{`id of anna timed out for 1h0m0s: ""`}, []string{"1 timeout id of anna by berta"})
	})
}

// A lift of a timeout doesn't lift a ban that somebody has given since, and the other way round.
func TestLift_OtherSilence(t *testing.T) {
	inActs(t, func(d *harness, f *fakeChat) {
		f.known = journal.Silence{Banned: true, By: "twitch:mo"}
		if _, err := d.Silences.LiftTimeout(d.Context(), anna); !errors.As(err, new(SilencedError)) || err.Error() != "the user is banned, by mo: unban them instead" {
			t.Error(err)
		}
		f.known = journal.Silence{Until: time.Now().Add(time.Minute)}
		if _, err := d.Silences.LiftBan(d.Context(), anna); !errors.As(err, new(SilencedError)) {
			t.Error(err)
		}
		d.wantGiven(f, nil, nil)
	})
}

// After a restart, a timeout or ban is known from the audit and the journal, until it is over,
// lifted or pardoned.
func TestSilence_FromRecords(t *testing.T) {
	inActs(t, func(d *harness, f *fakeChat) {
		f.forgets, d.Pardons.lift = true, func(context.Context, string, string) error { return nil }
		want := func(when string, by string, banned bool) {
			d.Helper()
			if s, _ := d.Silences.Of(d.Context(), anna); (s == nil) != (by == "") || s != nil && (s.By != by || s.Banned != banned) {
				d.Errorf("%s: %+v, want by %q", when, s, by)
			}
		}
		want("at first", "", false)
		d.spam(2, time.Second)
		want("timed out by chatguard", journal.ProgramAuthor, false)
		must(t, errorOf(d.Silences.Ban(d.Context(), anna, "")))
		time.Sleep(time.Second)
		want("banned", "berta", true)
		must(t, errorOf(d.Silences.LiftBan(d.Context(), anna)))
		want("lifted", "", false)
		if _, liftedAt := d.Silences.Of(d.Context(), anna); !liftedAt.Equal(time.Now()) {
			t.Errorf("lifted at %v", liftedAt)
		}
		time.Sleep(time.Minute)
		must(t, errorOf(d.Silences.TimeOut(d.Context(), anna, time.Minute, "", false)))
		want("timed out", "berta", false)
		time.Sleep(time.Minute)
		want("over", "", false)
		d.spam(2, 10*time.Second)
		want("timed out by chatguard again", journal.ProgramAuthor, false)
		d.pardonAnna()
		want("pardoned", "", false)
	})
}

// TestSilences_Recall checks that after a restart, the chat is told every timeout and ban in force
// that the records have, however many are over, but no ban from before the given time. Of too many,
// it is told the latest.
func TestSilences_Recall(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		began := time.Now()
		told := map[string]journal.Silence{}
		acts := (&fakeChat{forgets: true}).acts()
		acts.Recall = func(t journal.Target, s journal.Silence) { told[t.UserID] = s }
		d.Join(Chat{Acts: acts})
		id := chatguard.EntryID(0)
		penalty := func(user string, p chatguard.Penalty, result journal.Result) {
			id++
			d.store.entries[id] = journal.Entry{ID: id, At: time.Now(), ChannelID: channel, UserID: user, MaySpeakAt: journal.OptionalTime{Time: time.Now().Add(14 * time.Hour)},
				Penalty: p, Outcome: journal.Outcome{Entry: id, At: time.Now(), Action: p.Action, Result: result}}
		}
		timeout := func(length time.Duration) chatguard.Penalty {
			return chatguard.Penalty{Action: chatguard.ActionTimeout, Duration: length}
		}
		act := func(user string, action journal.AuditAction, detail journal.Detail) {
			d.store.recorded = append(d.store.recorded, journal.Audit{ID: int64(len(d.store.recorded) + 1), At: time.Now(), Author: "berta", Action: action, ChannelID: channel, UserID: user, Detail: detail})
		}
		penalty("long", timeout(penalties.MaxTimeout), journal.Done)
		time.Sleep(penalties.MaxTimeout - 12*time.Hour)
		penalty("old ban", chatguard.Penalty{Action: chatguard.ActionBan}, journal.Done)
		act("old ban of a person", journal.UserBanned, journal.BanDetail{})
		time.Sleep(time.Hour)
		bansFrom := time.Now()
		act("long, of a person", journal.UserTimedOut, journal.TimeoutDetail{Until: bansFrom.Add(12 * time.Hour)})
		act("lifted", journal.UserTimedOut, journal.TimeoutDetail{Until: bansFrom.Add(12 * time.Hour)})
		penalty("pardoned", timeout(12*time.Hour), journal.Done)
		penalty("refused", timeout(12*time.Hour), journal.Failed)
		penalty("until refill", chatguard.Penalty{Action: chatguard.ActionTimeout, UntilRefill: true}, journal.Done)
		time.Sleep(time.Minute)
		act("lifted", journal.UserLifted, journal.LiftDetail{})
		act("pardoned", journal.UserPardoned, journal.EntryPardonDetail{})
		for i := range 1200 { // more than a page
			penalty(fmt.Sprint("over ", i), timeout(time.Second), journal.Done)
			act(fmt.Sprint("over, of a person ", i), journal.UserTimedOut, journal.TimeoutDetail{Until: time.Now().Add(time.Second)})
		}
		for i := range 300 {
			penalty(fmt.Sprint("ban ", i), chatguard.Penalty{Action: chatguard.ActionBan}, journal.Done)
			act(fmt.Sprint("ban of a person ", i), journal.UserBanned, journal.BanDetail{})
		}
		time.Sleep(2 * time.Second)
		must(t, d.Silences.Recall(t.Context(), bansFrom, 10_000))
		if s := told["long"]; !s.Until.Equal(began.Add(penalties.MaxTimeout)) || s.By != journal.ProgramAuthor || told["long, of a person"].By != "berta" || told["until refill"].Until.IsZero() {
			t.Errorf("the long timeouts are told as %+v, %+v and %+v", s, told["long, of a person"], told["until refill"])
		}
		if len(told) != 3+2*300 {
			for _, user := range []string{"old ban", "old ban of a person", "lifted", "pardoned", "refused", "over 0", "over, of a person 0"} {
				if _, isTold := told[user]; isTold {
					t.Errorf("told: %s", user)
				}
			}
			t.Errorf("%d are told, want 603", len(told))
		}
		clear(told)
		must(t, d.Silences.Recall(t.Context(), bansFrom, 600))
		if _, isTold := told["long"]; isTold || len(told) != 600 {
			t.Errorf("of at most 600, %d are told; the oldest: %v", len(told), isTold)
		}
	})
}

// An act of which nobody knows whether the chat carried it out is in the audit, as not confirmed.
func TestActs_Unanswered(t *testing.T) {
	inActs(t, func(d *harness, f *fakeChat) {
		f.refusal = ErrUnanswered
		for action, act := range map[journal.AuditAction]func() error{
			journal.UserTimedOut: func() error { return errorOf(d.Silences.TimeOut(d.Context(), anna, time.Minute, "spam", false)) },
			journal.UserBanned:   func() error { return errorOf(d.Silences.Ban(d.Context(), anna, "spam")) },
			journal.UserLifted:   func() error { return errorOf(d.Silences.LiftTimeout(d.Context(), anna)) },
		} {
			err := act()
			if detail, ok := d.store.detail.(journal.UnconfirmedDetail); !errors.Is(err, ErrUnanswered) || !ok || detail.Action != action {
				t.Errorf("%s: %v, the audit has %+v", action, err, d.store.detail)
			}
		}
	})
}
