package web

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// revise changes the policy of the tests' channel as a command in chat does.
func (d *dashboard) revise(author string, change func(*chatguard.Policy) error) (saved bool, err error) {
	return d.server.Revise(context.Background(), channelID, author, func(p chatguard.Policy) (chatguard.Policy, error) {
		err := change(&p)
		return p, err
	})
}

func TestACommandsRevisionIsLikeAnyOther(t *testing.T) {
	d := dash(t)
	d.say(spammer, 4)
	l := d.listen()
	l.next(snapshotFrame)
	saved, err := d.revise("berta", func(p *chatguard.Policy) error { p.Limits[0].Burst = 5; return nil })
	if err != nil || !saved || len(d.throttled()) > 0 {
		t.Errorf("saved %v, %v; throttled: %+v", saved, err, d.throttled())
	}
	if fr := l.next(policyFrame); fr.Policy.Revision == nil || fr.Policy.Revision.Author != "berta" || fr.Policy.ETag != policyTag(d.guard.Policy(channelID)) {
		t.Errorf("told as %+v", fr.Policy)
	}
	past := into[map[string][]journal.Revision](t, d.do("GET", policyPath+"/revisions", nil, asOwner))["revisions"]
	if len(past) != 1 || past[0].Author != "berta" || len(past[0].Changes) != 1 || past[0].Policy.Limits[0].Burst != 5 {
		t.Errorf("kept as %+v", past)
	}
}

func TestRevisionsAtOnceAreAllMade(t *testing.T) {
	d := dash(t)
	const writers, changes = 4, 25
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for range changes {
				if _, err := d.revise(fmt.Sprint("user", i), func(p *chatguard.Policy) error { p.Limits[0].Burst++; return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := d.guard.Policy(channelID).Limits[0].Burst; n != 3+writers*changes {
		t.Errorf("the burst is %d after %d times one more than 3", n, writers*changes)
	}
	for i, r := range d.store.revisions {
		if r.Policy.Limits[0].Burst != 4+i {
			t.Errorf("revision %d has a burst of %d", r.Number, r.Policy.Limits[0].Burst)
		}
	}
}

func TestARefusedRevisionLeavesEverything(t *testing.T) {
	errNoLimit := errors.New("there is no such limit")
	for name, test := range map[string]struct {
		change func(*chatguard.Policy) error
		store  error
		want   string
	}{
		"by edit":       {func(p *chatguard.Policy) error { p.Limits[0].Burst = 9; return errNoLimit }, nil, errNoLimit.Error()},
		"by the Guard":  {func(p *chatguard.Policy) error { p.Limits[0].Burst = -1; return nil }, nil, `"burst"`},
		"by Acceptable": {func(p *chatguard.Policy) error { p.Limits[0].Burst = 100; return nil }, nil, "nobody can do that"},
		"by the Store": {
			func(p *chatguard.Policy) error { p.Limits[0].Burst = 9; return nil },
			errors.New("disk full: /secret/path"), "The database is in trouble, so nothing was changed.",
		},
	} {
		d := dash(t, func(o *Options) {
			o.Acceptable = func(_ string, p chatguard.Policy) error {
				if p.Limits[0].Burst == 100 {
					return errors.New("nobody can do that")
				}
				return nil
			}
		})
		before := policyTag(d.guard.Policy(channelID))
		d.store.refuse(test.store)
		saved, err := d.revise("berta", test.change)
		if err == nil || saved || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: saved %v, %v", name, saved, err)
		}
		if name == "by edit" && !errors.Is(err, errNoLimit) {
			t.Errorf("%s: %v isn't edit's error", name, err)
		}
		if policyTag(d.guard.Policy(channelID)) != before || len(d.store.revisions) > 0 {
			t.Errorf("%s: something has changed", name)
		}
	}
}

func TestARevisionIsInForceBeforeItIsSaved(t *testing.T) {
	d := dash(t)
	d.breakDatabase(time.Minute)
	saved, err := d.revise("berta", func(p *chatguard.Policy) error { p.Limits[0].Burst = 2; return nil })
	if err != nil || saved || d.guard.Policy(channelID).Limits[0].Burst != 2 {
		t.Errorf("saved %v, %v; in force: %+v", saved, err, d.guard.Policy(channelID))
	}
	if fr := d.listen().next(snapshotFrame); fr.Policy.Saved {
		t.Error("nobody is told that it isn't saved")
	}
}

// rebase puts a burst in force for all channels, as a configuration does that is loaded again.
func (d *dashboard) rebase(burst int) error {
	return d.server.Rebase(func() error {
		if d.server.policy.TryLock() {
			d.Error("somebody else may change policies meanwhile")
		}
		base := d.guard.Policy("")
		base.Limits[0].Burst = burst
		return d.guard.SetPolicy("", base, d.now())
	})
}

func TestANewConfigurationHoldsAtOnce(t *testing.T) {
	d := dash(t)
	d.say(spammer, 4)
	l := d.listen()
	l.next(snapshotFrame)
	if err := d.rebase(9); err != nil {
		t.Fatal(err)
	}
	if users := d.throttled(); len(users) > 0 {
		t.Errorf("with a burst of 9: %+v", users)
	}
	if fr := l.next(policyFrame); fr.Policy.ETag != policyTag(d.guard.Policy(channelID)) || fr.Policy.Revision != nil {
		t.Errorf("told as %+v", fr.Policy)
	}
	if err := d.rebase(-1); err == nil || !strings.Contains(err.Error(), `"burst"`) {
		t.Errorf("an impossible configuration: %v", err)
	}
	if saved, err := d.revise("berta", func(p *chatguard.Policy) error { p.Limits[0].Burst++; return nil }); err != nil || !saved {
		t.Errorf("afterwards nothing can be changed: %v", err)
	}
	if n := d.guard.Policy(channelID).Limits[0].Burst; n != 10 {
		t.Errorf("the burst is %d, one more than 9", n)
	}
}

// TestGoingBackGoesToThePresentConfiguration: it is asked for while nobody can change it.
func TestGoingBackGoesToThePresentConfiguration(t *testing.T) {
	var d *dashboard
	asked := 0
	d = dash(t, func(o *Options) {
		base := o.BasePolicy(channelID)
		o.BasePolicy = func(string) chatguard.Policy {
			asked++
			if d.server.policy.TryLock() {
				d.server.policy.Unlock()
				t.Error("the configuration may change meanwhile")
			}
			return base
		}
	})
	into[change](t, d.put(burst(9)))
	into[change](t, d.do("DELETE", policyPath, nil, asOwner))
	if n := d.guard.Policy(channelID).Limits[0].Burst; n != 3 || asked == 0 {
		t.Errorf("the burst is %d; the configuration was asked for %d times", n, asked)
	}
}
