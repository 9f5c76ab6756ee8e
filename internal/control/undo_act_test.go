package control

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

// An undo ends only what its author gave at that time. It never ends another person's act.
func TestUndoAct_OnlyOnesOwn(t *testing.T) {
	inActs(t, func(d *harness, f *fakeChat) {
		done, err := d.Silences.TimeOut(d.Context(), anna, 10*time.Minute, "", false)
		must(t, err)
		given := done.Silence.At
		other := anna
		other.Author = "carla"
		time.Sleep(time.Second)
		must(t, errorOf(d.Silences.TimeOut(d.Context(), other, time.Hour, "", false)))
		f.given, d.store.audits = nil, nil
		if _, err = d.Silences.Undo(d.Context(), anna, false, given); !errors.As(err, new(SilencedError)) || !strings.Contains(err.Error(), "by carla: it was given since") {
			t.Errorf("another person's timeout: %v", err)
		}
		f.known = journal.Silence{Until: time.Now().Add(time.Hour), At: given.Add(time.Minute), By: anna.Author}
		if _, err = d.Silences.Undo(d.Context(), anna, false, given); !errors.As(err, new(SilencedError)) {
			t.Errorf("one's own later timeout: %v", err)
		}
		f.known = journal.Silence{Banned: true, At: given, By: anna.Author}
		if _, err = d.Silences.Undo(d.Context(), anna, false, given); !errors.As(err, new(SilencedError)) {
			t.Errorf("a ban: %v", err)
		}
		f.known = journal.Silence{Until: time.Now()}
		if done, err := d.Silences.Undo(d.Context(), anna, false, given); err != nil || !done.Already {
			t.Errorf("nothing in force: %+v, %v", done, err)
		}
		d.wantGiven(f, nil, nil)
	})
}

// An undo gives the replaced timeout again for the rest of its time, and the audit says so.
func TestUndoAct_RestoresWhatWasReplaced(t *testing.T) {
	inActs(t, func(d *harness, f *fakeChat) {
		for name, act := range map[string]func() (Acted, error){
			"a ban":     func() (Acted, error) { return d.Silences.Ban(d.Context(), anna, "") },
			"a timeout": func() (Acted, error) { return d.Silences.TimeOut(d.Context(), anna, time.Minute, "", true) },
		} {
			f.known = journal.Silence{Until: time.Now().Add(time.Hour), At: time.Now(), By: "carla"}
			until := f.known.Until
			time.Sleep(10 * time.Second)
			done, err := act()
			must(t, err)
			time.Sleep(10 * time.Second)
			undone, err := d.Silences.Undo(d.Context(), anna, done.Silence.Banned, done.Silence.At)
			if s := undone.Silence; err != nil || s == nil || s.Banned || !s.Until.Equal(until) || f.known.Banned || !f.known.Until.Equal(until) {
				t.Errorf("%s: %+v, %v", name, undone, err)
			}
			if detail, ok := d.store.detail.(journal.TimeoutDetail); !ok || !detail.Restored {
				t.Errorf("%s: recorded %+v", name, d.store.detail)
			}

			f.known = journal.Silence{Until: time.Now().Add(10 * time.Second), At: time.Now(), By: "carla"}
			done, err = d.Silences.Ban(d.Context(), anna, "")
			must(t, err)
			time.Sleep(time.Minute)
			if undone, err := d.Silences.Undo(d.Context(), anna, true, done.Silence.At); err != nil || undone.Silence != nil {
				t.Errorf("%s: the timeout would be over by now: %+v, %v", name, undone, err)
			}
		}
	})
}

// A restored timeout keeps its giver, also in the records after a restart. A pardon lifts it only
// if that is chatguard.
func TestUndoAct_KeepsTheGiver(t *testing.T) {
	for _, by := range []string{journal.ProgramAuthor, "carla", ""} {
		for _, restart := range []bool{false, true} {
			inActs(t, func(d *harness, f *fakeChat) {
				policy := d.guard.ChannelPolicy(channel)
				policy.Penalties.Ladder[0].Duration = time.Hour
				must(t, d.guard.SetChannelPolicy(channel, policy))
				d.Pardons.lift = func(ctx context.Context, _, _ string) error { return f.acts().Lift(ctx, anna) }
				d.spam(2, time.Second)
				f.known = journal.Silence{Until: time.Now().Add(time.Hour), At: time.Now(), By: by}
				time.Sleep(time.Minute)
				done, err := d.Silences.Ban(d.Context(), anna, "")
				must(t, err)
				time.Sleep(time.Minute)
				undone, err := d.Silences.Undo(d.Context(), anna, true, done.Silence.At)
				if s := undone.Silence; err != nil || s == nil || s.By != by || f.known.By != by {
					t.Fatalf("by %q: %+v, %v; the chat knows %+v", by, undone, err, f.known)
				}
				if last := d.store.recorded[len(d.store.recorded)-1]; last.Author != anna.Author {
					t.Errorf("by %q: the undo is recorded as %q", by, last.Author)
				}
				if f.forgets = restart; restart {
					told := map[string]journal.Silence{}
					acts := f.acts()
					acts.Recall = func(t journal.Target, s journal.Silence) { told[t.UserID] = s }
					d.Silences.acts = acts
					must(t, d.Silences.Recall(d.Context(), time.Time{}, 10))
					if s, ok := told[anna.UserID]; !ok || s.By != by {
						t.Errorf("by %q, recalled after a restart: %+v", by, s)
					}
					acts.Recall = nil
					d.Silences.acts = acts
				}
				if s, _ := d.Silences.Of(d.Context(), anna); s == nil || s.Banned || s.By != by {
					t.Errorf("by %q, restart %v: in force is %+v", by, restart, s)
				}
				want, lifted := journal.SilenceKept, by == journal.ProgramAuthor
				if lifted {
					want = journal.SilenceLifted
				}
				if done := d.pardonAnna(); done.Silence != want || f.known.IsInForce(time.Now()) == lifted {
					t.Errorf("by %q, restart %v: pardoned: %+v", by, restart, done)
				}
				f.forgets = true // the records know what the pardon has lifted
				if s, _ := d.Silences.Of(d.Context(), anna); (s == nil) != lifted {
					t.Errorf("by %q, restart %v: in force after the pardon is %+v", by, restart, s)
				}
			})
		}
	}
}
