package control

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/penalties"
	"github.com/chatguard/chatguard/limitinfo"
)

// spam lets anna write messages at the given interval. All but the first are throttled and bring a
// timeout.
func (d *harness) spam(messages int, every time.Duration) {
	d.Helper()
	for range messages {
		v := d.say("anna")
		if e, ok := d.store.entries[v.EntryID]; ok {
			e.Outcome.At = time.Now()
			d.store.entries[v.EntryID] = e
		}
		time.Sleep(every)
	}
}

// standing fails the test unless anna has that many strikes and is or is not timed out.
func (d *harness) standing(when string, strikes int, silenced bool) {
	d.Helper()
	e, err := limitinfo.Explain(d.Context(), d.guard, chatguard.Message{ChannelID: channel, User: chatguard.User{ID: anna.UserID}})
	if err != nil || e.Strikes != strikes || e.SilentUntil.IsZero() == silenced {
		d.Errorf("%s: %d strikes, silent until %v, %v; want %d, %v", when, e.Strikes, e.SilentUntil, err, strikes, silenced)
	}
}

func (d *harness) pardonAnna() journal.Pardon {
	d.Helper()
	done, saved, err := d.Pardons.PardonUser(d.Context(), anna)
	if !saved || err != nil {
		d.Fatalf("saved %v, %v", saved, err)
	}
	return done
}

// A pardon covers the whole run, in which only some messages brought a strike and the last one
// none.
func TestPardonUser(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		d.spam(15, time.Second)
		d.standing("spammed", 2, true)
		done := d.pardonAnna()
		d.standing("pardoned", 0, false)
		if done.Messages != 14 || done.Strikes != 2 || done.StrikesLeft != 0 || done.Silence != journal.SilenceLifted || done.Deleted != 14 || done.Again || done.By != "berta" {
			t.Errorf("%+v", done)
		}
		if !slices.Equal(d.lifted, []string{"1 id of anna"}) {
			t.Errorf("lifted %q", d.lifted)
		}
		d.wantAudits("1 pardon id of anna by berta")
		other := anna
		other.Author = "carla"
		again, saved, err := d.Pardons.PardonUser(d.Context(), other)
		if !saved || err != nil || !again.Again || again.ID != done.ID || again.By != "berta" || again.Messages != 14 || len(d.store.audits) != 1 {
			t.Errorf("again: %+v, saved %v, %v", again, saved, err)
		}
	})
}

// The result says if a timeout cannot be lifted, and why.
func TestPardonUser_TimeoutKept(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		d.spam(3, time.Second)
		d.lift = errors.New("unban user: somebody else has timed out or banned this user since")
		if done := d.pardonAnna(); done.Silence != journal.SilenceKept || done.Kept != d.lift.Error() || done.Strikes != 1 {
			t.Errorf("%+v", done)
		}
		d.command("!chatguard pardon @anna", "@anna is pardoned. But the timeout or ban stays: unban user: somebody else has timed out or banned this user since.")
		d.lift = nil
		if done := d.pardonAnna(); done.Silence != journal.SilenceLifted || !done.Again {
			t.Errorf("tried again: %+v", done)
		}
		d.Pardons.lift = nil
		if done := d.pardonAnna(); done.Silence != journal.SilenceKept || done.Kept != "chatguard has no token: lift it in the chat" {
			t.Errorf("without a token: %+v", done)
		}
	})
}

// A pardon lifts what may still be in force, also if one penalty was or may have been carried out
// for several messages whose own penalties were weaker. It lifts nothing if the penalty was surely
// not carried out or is surely over, because a person may have acted since.
func TestPardon_Lifts(t *testing.T) {
	const merged, stopped = "one timeout for 2 messages: too few requests for each", journal.Interrupted
	const forever = 100 * 365 * 24 * time.Hour
	minutes := func(n time.Duration) time.Duration { return n * time.Minute }
	short := chatguard.Penalty{Action: chatguard.ActionTimeout, Duration: minutes(1)}
	for name, test := range map[string]struct {
		due     chatguard.Penalty
		outcome journal.Outcome
		until   time.Duration // since the outcome; 0 if nothing is lifted at all
	}{
		"delete":                  {chatguard.Penalty{Action: chatguard.ActionDelete}, journal.Outcome{Action: chatguard.ActionDelete, Result: journal.Done}, 0},
		"delete, interrupted":     {chatguard.Penalty{Action: chatguard.ActionDelete}, journal.Outcome{Action: chatguard.ActionDelete, Result: journal.Unknown, Reason: stopped}, minutes(20)},
		"delete, unanswered":      {chatguard.Penalty{Action: chatguard.ActionDelete}, journal.Outcome{Action: chatguard.ActionDelete, Result: journal.Unknown, Reason: "status 500"}, 0},
		"warn, unanswered":        {chatguard.Penalty{Action: penalties.Warn}, journal.Outcome{Action: penalties.Warn, Result: journal.Unknown, Reason: "status 500; the message was deleted"}, 0},
		"timeout, unanswered":     {chatguard.Penalty{Action: chatguard.ActionDelete}, journal.Outcome{Action: chatguard.ActionTimeout, Result: journal.Unknown, Reason: "status 500"}, minutes(20)},
		"none, interrupted":       {chatguard.Penalty{}, journal.Outcome{Result: journal.Unknown, Reason: stopped}, minutes(20)},
		"warn, interrupted":       {chatguard.Penalty{Action: penalties.Warn}, journal.Outcome{Action: penalties.Warn, Result: journal.Unknown, Reason: stopped}, minutes(20)},
		"delete, pending":         {chatguard.Penalty{Action: chatguard.ActionDelete}, journal.Outcome{Action: chatguard.ActionDelete, Result: journal.Pending}, minutes(20)},
		"delete in a timeout":     {chatguard.Penalty{Action: chatguard.ActionDelete}, journal.Outcome{Action: chatguard.ActionTimeout, Result: journal.Done, Reason: merged}, minutes(20)},
		"delete, until refill":    {chatguard.Penalty{Action: chatguard.ActionDelete}, journal.Outcome{Action: chatguard.ActionTimeout, Result: journal.Done, Reason: merged}, time.Hour},
		"timeout":                 {short, journal.Outcome{Action: chatguard.ActionTimeout, Result: journal.Done}, minutes(1)},
		"timeout, interrupted":    {short, journal.Outcome{Action: chatguard.ActionTimeout, Result: journal.Unknown, Reason: stopped}, minutes(20)},
		"timeout in a longer one": {short, journal.Outcome{Action: chatguard.ActionTimeout, Result: journal.Done, Reason: merged}, minutes(20)},
		"timeout, failed":         {short, journal.Outcome{Action: chatguard.ActionTimeout, Result: journal.Failed, Reason: "invalid user"}, 0},
		"timeout, only deleted":   {short, journal.Outcome{Action: chatguard.ActionDelete, Result: journal.Done, Reason: "invalid user; the message was only deleted"}, 0},
		"timeout, skipped":        {short, journal.Outcome{Action: chatguard.ActionTimeout, Result: journal.Skipped, Reason: "queue full"}, 0},
		"ban, interrupted":        {chatguard.Penalty{Action: chatguard.ActionBan}, journal.Outcome{Action: chatguard.ActionBan, Result: journal.Unknown, Reason: stopped}, forever},
		"ban, pending":            {chatguard.Penalty{Action: chatguard.ActionBan}, journal.Outcome{Action: chatguard.ActionBan, Result: journal.Pending}, forever},
		"delete in a ban":         {chatguard.Penalty{Action: chatguard.ActionDelete}, journal.Outcome{Action: chatguard.ActionBan, Result: journal.Done, Reason: merged}, forever},
		"ban, observed":           {chatguard.Penalty{Action: chatguard.ActionBan}, journal.Outcome{Result: journal.Observed}, 0},
	} {
		for _, after := range []time.Duration{max(0, test.until-time.Second), min(test.until+time.Second, forever-time.Second)} {
			inBubble(t, Raid{}, func(d *harness) {
				policy := d.guard.ChannelPolicy(channel)
				hardest := chatguard.Penalty{Action: chatguard.ActionTimeout, Duration: minutes(20)}
				if strings.HasSuffix(name, "refill") {
					hardest = chatguard.Penalty{Action: chatguard.ActionTimeout, UntilRefill: true}
				}
				policy.Penalties.Ladder = append(policy.Penalties.Ladder, hardest)
				must(d, d.guard.SetChannelPolicy(channel, policy))
				d.spam(2, 0)
				e := d.store.entries[d.store.last]
				test.outcome.At, e.Penalty = time.Now(), test.due
				e.Outcome = test.outcome
				d.store.entries[e.ID] = e
				time.Sleep(after)
				done, _, err := d.Pardons.PardonEntry(d.Context(), e.ID, "berta")
				want := journal.NotSilenced
				if after < test.until {
					want = journal.SilenceLifted
				}
				if err != nil || done.Silence != want || (len(d.lifted) == 1) != (want == journal.SilenceLifted) {
					t.Errorf("%s, after %s: %s, lifted %q, %v; want %s", name, after, done.Silence, d.lifted, err, want)
				}
			})
		}
	}
}

// A pardon doesn't lift what a person gave since, although the chat has forgotten it in a restart.
func TestPardon_PersonActedSince(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		d.Silences.acts = (&fakeChat{forgets: true}).acts()
		must(t, errorOf(d.Silences.Ban(d.Context(), anna, ""))) // for something else
		d.spam(2, time.Second)
		if done := d.pardonAnna(); done.Silence != journal.SilenceLifted {
			t.Errorf("banned before: %+v", done)
		}
		d.lifted = nil
		must(t, errorOf(d.Silences.TimeOut(d.Context(), anna, 5*time.Second, "", true)))
		if done := d.pardonAnna(); done.Silence != journal.SilenceKept || done.Kept != errActedSince.Error() || len(d.lifted) > 0 {
			t.Errorf("timed out since: %+v, lifted %q", done, d.lifted)
		}
		time.Sleep(5 * time.Second)
		if done := d.pardonAnna(); done.Silence != journal.SilenceLifted {
			t.Errorf("the timeout is over: %+v", done)
		}
		must(t, errorOf(d.Silences.Ban(d.Context(), anna, "")))
		must(t, errorOf(d.Silences.LiftBan(d.Context(), anna)))
		if done := d.pardonAnna(); done.Silence != journal.SilenceLifted {
			t.Errorf("lifted since: %+v", done)
		}
	})
}

// If Twitch knows of no timeout or ban, the result says that there was none. Without a token, a
// pardon doesn't claim that a timeout is left that perhaps never was.
func TestPardon_NothingToLift(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		d.spam(2, 0)
		e := d.store.entries[d.store.last]
		e.Outcome = journal.Outcome{At: time.Now(), Action: chatguard.ActionDelete, Result: journal.Unknown, Reason: journal.Interrupted}
		d.store.entries[e.ID] = e
		d.lift = ErrNotSilenced
		if done := d.pardonAnna(); done.Silence != journal.NotSilenced || done.Kept != "" || len(d.lifted) != 1 {
			t.Errorf("%+v, lifted %q", done, d.lifted)
		}
		d.Pardons.lift = nil
		if done := d.pardonAnna(); done.Silence != journal.NotSilenced || done.Kept != "" {
			t.Errorf("without a token: %+v", done)
		}
	})
}

// Pending penalties are dropped. A penalty in progress is lifted by the code that carries it out.
func TestPardonUser_PendingPenalties(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		d.spam(4, time.Second)
		var all []chatguard.EntryID
		for id, e := range d.store.entries {
			e.Outcome.Result = journal.Pending
			d.store.entries[id] = e
			all = append(all, id)
		}
		slices.Sort(all)
		d.Pardons.forgive = func(channelID, userID string, first, last chatguard.EntryID) (dropped, underWay []chatguard.EntryID) {
			if channelID != channel || userID != anna.UserID || first != all[0] || last != all[2] {
				t.Errorf("forgiven are %d to %d of %s in %s", first, last, userID, channelID)
			}
			return all[1:], all[:1]
		}
		if done := d.pardonAnna(); done.Dropped != 2 || done.Silence != journal.SilenceLifting || len(d.lifted) != 0 {
			t.Errorf("%+v, lifted %q", done, d.lifted)
		}
	})
}

// A run begins after the last gap.
func TestPardonUser_RunBegins(t *testing.T) {
	for name, test := range map[string]struct {
		before func(d *harness) // long before the last two messages
		want   int
		left   int // remaining strikes
	}{
		"throttled all the while": {func(d *harness) { d.spam(3, time.Minute) }, 4, 0},
		"a pause":                 {func(d *harness) { d.spam(3, time.Second); d.allow(); time.Sleep(15 * time.Second) }, 2, 1},
		"soon after":              {func(d *harness) { d.spam(3, time.Second); d.allow(); time.Sleep(8 * time.Second) }, 4, 0},
		"a reset": {func(d *harness) {
			d.spam(3, time.Second)
			must(d, errorOf(d.Users.Reset(d.Context(), anna)))
			d.say("anna")
		}, 2, 0},
	} {
		inBubble(t, Raid{}, func(d *harness) {
			test.before(d)
			d.spam(2, time.Second)
			if done := d.pardonAnna(); done.Messages != test.want || done.StrikesLeft != test.left {
				t.Errorf("%s: %+v", name, done)
			}
		})
	}
}

// allow changes anna's entries, so that they no longer throttle her.
func (d *harness) allow() {
	for id, e := range d.store.entries {
		e.MaySpeakAt = journal.OptionalTime{Time: time.Now()}
		d.store.entries[id] = e
	}
}

// A pardon covers only the newest of a spammer's thousands of messages, and the result says so.
func TestPardonUser_Bounded(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		d.spam(1+maxRun, 10*time.Millisecond)
		if done := d.pardonAnna(); done.Messages != maxRun || done.HasOlder {
			t.Errorf("just as many: %+v", done)
		}
		d.spam(2, 10*time.Millisecond)
		done := d.pardonAnna()
		if !done.HasOlder || done.Messages != 2 || len(d.store.audits) != 2 {
			t.Errorf("%+v", done)
		}
		d.command("!chatguard pardon @anna", "@anna is pardoned for the last 1000 messages; there are older ones.")
	})
}

func TestUnpardon(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		d.spam(15, time.Second)
		done := d.pardonAnna()
		for range 2 { // the second time has no effect
			undone, saved, err := d.Pardons.Undo(d.Context(), anna, done.ID)
			if !saved || err != nil || undone != (journal.Undone{Messages: 14, Strikes: 2, Lifted: true}) {
				t.Errorf("%+v, saved %v, %v", undone, saved, err)
			}
			d.standing("undone", 2, true)
		}
		d.wantAudits("1 pardon id of anna by berta", "1 unpardon id of anna by berta")
		next := d.pardonAnna()
		if next.ID == done.ID || next.Again || next.Strikes != 2 {
			t.Errorf("pardoned again: %+v", next)
		}
		if _, _, err := d.Pardons.Undo(d.Context(), anna, done.ID); !errors.Is(err, ErrNoUndo) {
			t.Errorf("the former pardon: %v", err)
		}
		d.store.unsaved = true
		if _, saved, err := d.Pardons.Undo(d.Context(), anna, next.ID); saved || err != nil {
			t.Errorf("unsaved: %v, %v", saved, err)
		}
	})
}

func TestUnpardon_Refused(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile func(d *harness)
		want      error
	}{
		"another strike": {func(d *harness) { d.say("anna") }, inner.ErrPardonStale},
		"a reset": {func(d *harness) {
			must(d, errorOf(d.Users.Reset(d.Context(), anna)))
		}, ErrNoUndo},
		"too late":  {func(d *harness) { time.Sleep(undoable) }, ErrNoUndo},
		"a restart": {func(d *harness) { d.start(Raid{}) }, ErrNoUndo},
	} {
		inBubble(t, Raid{}, func(d *harness) {
			d.spam(3, time.Second)
			done := d.pardonAnna()
			test.meanwhile(d)
			audits := len(d.store.audits)
			if _, _, err := d.Pardons.Undo(d.Context(), anna, done.ID); !errors.Is(err, test.want) || len(d.store.audits) != audits {
				t.Errorf("%s: %v, audit %q", name, err, d.store.audits)
			}
		})
	}
}

// The number of remembered pardons has a maximum.
func TestPardons_Bounded(t *testing.T) {
	var p lastPardons
	now := time.Now()
	give := func(user string, at time.Time) {
		_, err := p.give(t.Context(), journal.Target{UserID: user}, at, func(time.Time) (journal.Pardon, inner.Pardoned, error) {
			return journal.Pardon{}, inner.Pardoned{Offences: 1}, nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	for i := range 2 * maxPardons {
		give(string(rune('a'+i)), now)
	}
	if len(p.of) != maxPardons {
		t.Errorf("%d are remembered", len(p.of))
	}
	give("later", now.Add(undoable))
	if len(p.of) != 1 {
		t.Errorf("%d are remembered, after a while", len(p.of))
	}
}

// If many moderators act at once, only one of them pardons, and only one undoes the pardon.
func TestPardons_Concurrent(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		d.spam(15, time.Second)
		d.Pardons.lift = nil
		done := make([]journal.Pardon, 10)
		all := func(do func(i int) error) {
			var at sync.WaitGroup
			for i := range done {
				at.Go(func() {
					if err := do(i); err != nil {
						t.Error(err)
					}
				})
			}
			at.Wait()
		}
		all(func(i int) (err error) { done[i], _, err = d.Pardons.PardonUser(d.Context(), anna); return err })
		firsts := 0
		for _, one := range done {
			if one.ID != done[0].ID || one.Strikes != 2 {
				t.Errorf("%+v", one)
			}
			if !one.Again {
				firsts++
			}
		}
		d.standing("pardoned", 0, false)
		all(func(int) error { _, _, err := d.Pardons.Undo(d.Context(), anna, done[0].ID); return err })
		d.standing("undone", 2, true)
		if firsts != 1 || len(d.store.audits) != 2 {
			t.Errorf("%d pardoned first, audit %q", firsts, d.store.audits)
		}
	})
}

// A pardon says that a timeout remains which none of its messages caused.
func TestPardonUser_NamesWhatRemains(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		f := &fakeChat{}
		d.Silences.acts = f.acts()
		d.spam(3, time.Second)
		d.lift = ErrNotSilenced
		f.known = journal.Silence{Until: time.Now().Add(time.Hour), At: time.Now(), By: "carla"}
		if done := d.pardonAnna(); done.Silence != journal.SilenceKept || done.Silenced == nil || done.Silenced.By != "carla" {
			t.Errorf("%+v", done)
		}
		f.known = journal.Silence{Until: time.Now()}
		if done := d.pardonAnna(); done.Silence == journal.SilenceKept || done.Silenced != nil {
			t.Errorf("after its end: %+v", done)
		}
	})
}
