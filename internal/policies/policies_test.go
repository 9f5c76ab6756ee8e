package policies

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
)

// follower records its notifications as text.
type follower struct{ told []string }

func (f *follower) Revised(r journal.Revision) {
	f.told = append(f.told, fmt.Sprintf("revised %s %d by %s", r.ChannelID, r.Number, r.Author))
}
func (f *follower) Reloaded()                { f.told = append(f.told, "reloaded") }
func (f *follower) Saved(channelID string)   { f.told = append(f.told, "saved "+channelID) }
func (f *follower) Changed(channelID string) { f.told = append(f.told, "changed "+channelID) }

func (f *follower) Silenced(channelID, userID, _ string) {
	f.told = append(f.told, "silenced "+channelID+" "+userID)
}

func (f *follower) Amended(channelID, userID string) {
	f.told = append(f.told, "amended "+channelID+" "+userID)
}

// file is a configuration: a policy for all channels, and channels' own policies.
type file struct {
	all   chatguard.Policy
	own   map[string]chatguard.Policy
	asked func()
}

func (f *file) Default() chatguard.Policy { return f.all.Clone() }

func (f *file) Policy(channelID string) chatguard.Policy {
	if f.asked != nil {
		f.asked()
	}
	if own, ok := f.own[channelID]; ok {
		return own.Clone()
	}
	return f.Default()
}

func (f *file) Channels() (ids []string) {
	for id := range f.own {
		ids = append(ids, id)
	}
	return ids
}

// bursting returns the default policy with another burst.
func bursting(burst int) chatguard.Policy {
	p := config.DefaultPolicy()
	p.Limits[0].Burst = burst
	return p
}

// office is Policies over a file in which everyone has a burst of 3.
type office struct {
	*testing.T
	*Policies
	file     *file
	guard    *chatguard.Guard
	store    *memory
	follower *follower
	log      bytes.Buffer
}

func newOffice(t *testing.T, adjust ...func(*Options)) *office {
	t.Helper()
	o := &office{T: t, file: &file{all: bursting(3)}, store: &memory{}}
	o.start(adjust...)
	return o
}

// start starts a process on the same store.
func (o *office) start(adjust ...func(*Options)) {
	o.Helper()
	var err error
	if o.guard, err = chatguard.New(o.file.all, nil); err != nil {
		o.Fatal(err)
	}
	o.log.Reset()
	opts := Options{Guard: o.guard, Store: o.store, Base: o.file, Log: slog.New(slog.NewTextHandler(&o.log, nil))}
	for _, f := range adjust {
		f(&opts)
	}
	o.Policies, o.follower = New(opts), &follower{}
	must(o, o.Restore(o.Context()))
	o.Followers.Follow(o.follower)
}

// givenByProgram removes the file: the program has given the Guard its policies.
func givenByProgram(o *Options) { o.Base = nil }

// edited returns an edit for Revise.
func edited(edit func(p *chatguard.Policy)) func(chatguard.Policy) (chatguard.Policy, error) {
	return func(p chatguard.Policy) (chatguard.Policy, error) {
		edit(&p)
		return p, nil
	}
}

// revise sets the burst of the test channel.
func (o *office) revise(burst int, match ...string) (Revised, error) {
	return o.Revise(o.Context(), Request{channel, "berta", match}, edited(func(p *chatguard.Policy) { p.Limits[0].Burst = burst }))
}

func (o *office) mustRevise(burst int) Revised {
	o.Helper()
	done, err := o.revise(burst)
	must(o, err)
	return done
}

// wantTold fails the test unless these are the notifications that followers got.
func (o *office) wantTold(want ...string) {
	o.Helper()
	if !slices.Equal(o.follower.told, want) {
		o.Errorf("told %q, want %q", o.follower.told, want)
	}
}

func (o *office) wantBurst(want int) {
	o.Helper()
	if got := o.guard.ChannelPolicy(channel).Limits[0].Burst; got != want {
		o.Errorf("the burst is %d, want %d", got, want)
	}
}

// wantChanging checks that a change of policy is under way, so that nobody else can begin one.
func (o *office) wantChanging() {
	o.Helper()
	if o.changing.TryLock() {
		o.changing.Unlock()
		o.Error("somebody else may change policies meanwhile")
	}
}

func TestRevise_KeepsThenPutsInForceThenNotifies(t *testing.T) {
	o := newOffice(t)
	o.mustRevise(5)
	done := o.mustRevise(7)
	if fmt.Sprint(done.Changes) != "[{limit.burst.burst 3 7}]" || fmt.Sprint(done.Difference) != "[{limit.burst.burst 5 7}]" ||
		done.Number != 2 || !done.Saved || done.Tag != Tag(o.guard.ChannelPolicy(channel)) {
		t.Errorf("revised as %+v", done)
	}
	o.wantBurst(7)
	o.wantTold("revised 1 1 by berta", "revised 1 2 by berta")
	o.start()
	o.wantBurst(7)
	if want := "channel=1 revision=2 author=berta key=limit.burst.burst value=7 configured=3"; strings.Count(o.log.String(), want) != 1 {
		t.Errorf("the start doesn't name the override:\n%s", o.log.String())
	}
}

func TestRevise_RefusesAnotherPolicyThanWasSeen(t *testing.T) {
	o := newOffice(t)
	seen := Tag(o.guard.ChannelPolicy(channel))
	must(t, errorOf(o.revise(5, "another", seen)))
	for name, act := range map[string]func(Request) (Revised, error){
		"revise":  func(r Request) (Revised, error) { return o.revise(9, r.Match...) },
		"discard": func(r Request) (Revised, error) { return o.Discard(t.Context(), r) },
		"revert":  func(r Request) (Revised, error) { return o.Revert(t.Context(), r, 1) },
	} {
		if done, err := act(Request{channel, "anna", []string{seen}}); !errors.Is(err, ErrStale) || done.Saved {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
	}
	o.wantBurst(5)
	if len(o.store.stored) != 1 || len(o.follower.told) != 1 {
		t.Errorf("stored %+v, told %q", o.store.stored, o.follower.told)
	}
}

func TestRevise_AtOnceMakesAll(t *testing.T) {
	o := newOffice(t)
	const writers, changes = 4, changeBurst
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for range changes {
				request := Request{ChannelID: channel, Author: fmt.Sprint("user", i)}
				_, err := o.Revise(t.Context(), request, edited(func(p *chatguard.Policy) { p.Limits[0].Burst++ }))
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	o.wantBurst(3 + writers*changes)
	for i, r := range o.store.stored {
		if r.Policy.Limits[0].Burst != 4+i {
			t.Errorf("revision %d has a burst of %d", r.Number, r.Policy.Limits[0].Burst)
		}
	}
}

func TestRevise_RefusedLeavesEverything(t *testing.T) {
	errNoLimit := errors.New("there is no such limit")
	for name, test := range map[string]struct {
		burst int
		edit  error
		store error
		want  string
		is    func(error) bool
	}{
		"by edit":       {9, errNoLimit, nil, errNoLimit.Error(), func(err error) bool { return errors.Is(err, errNoLimit) }},
		"by the Guard":  {-1, nil, nil, `"burst"`, isPolicyError},
		"by Acceptable": {100, nil, nil, "nobody can do that", isPolicyError},
		"by the Store": {
			9, nil, errors.New("disk full: /secret/path"), "nothing was changed, because the database is failing",
			func(err error) bool { return errors.Is(err, ErrNotKept) },
		},
	} {
		o := newOffice(t, func(o *Options) {
			o.Acceptable = func(_ string, p chatguard.Policy) error {
				if p.Limits[0].Burst == 100 {
					return errors.New("nobody can do that")
				}
				return nil
			}
		})
		before := Tag(o.guard.ChannelPolicy(channel))
		o.store.err = test.store
		done, err := o.Revise(t.Context(), Request{ChannelID: channel, Author: "berta"}, func(p chatguard.Policy) (chatguard.Policy, error) {
			p.Limits[0].Burst = test.burst
			return p, test.edit
		})
		if err == nil || done.Saved || !test.is(err) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
		if Tag(o.guard.ChannelPolicy(channel)) != before || len(o.store.stored) > 0 || len(o.follower.told) > 0 {
			t.Errorf("%s: something has changed", name)
		}
	}
}

func isPolicyError(err error) bool { return errors.As(err, new(*Error)) }

// TestDiscard_GoesBackToThePresentConfiguration checks that Discard reads the configuration while
// nothing can change it.
func TestDiscard_GoesBackToThePresentConfiguration(t *testing.T) {
	o := newOffice(t)
	asked := 0
	o.file.asked = func() {
		asked++
		o.wantChanging()
	}
	o.mustRevise(9)
	done, err := o.Discard(t.Context(), Request{ChannelID: channel, Author: "anna"})
	if err != nil || done.Number != 2 || !done.Saved || done.Changes != nil || fmt.Sprint(done.Difference) != "[{limit.burst.burst 9 3}]" {
		t.Errorf("%+v, %v", done, err)
	}
	o.wantBurst(3)
	if asked == 0 || done.Tag != Tag(o.guard.ChannelPolicy(channel)) {
		t.Errorf("asked %d times, tag %s", asked, done.Tag)
	}
	o.file.asked = nil
	if live := o.LiveChanges(); len(live) > 0 {
		t.Errorf("still changed live: %+v", live)
	}
}

func TestRevert_PutsAnEarlierRevisionInForceAgain(t *testing.T) {
	o := newOffice(t)
	o.mustRevise(5)
	o.mustRevise(7)
	request := Request{ChannelID: channel, Author: "anna"}
	if done, err := o.Revert(t.Context(), request, 1); err != nil || done.Number != 3 || done.Author != "anna" {
		t.Errorf("%+v, %v", done, err)
	}
	o.wantBurst(5)
	if _, err := o.Revert(t.Context(), request, 9); !errors.Is(err, ErrNoRevision) {
		t.Errorf("revision 9: %v", err)
	}
	if done, err := o.Revert(t.Context(), request, 0); err != nil || done.Changes != nil {
		t.Errorf("the configuration's: %+v, %v", done, err)
	}
	o.wantBurst(3)
	past, _, err := o.History(t.Context(), channel, 0, 50)
	var lines []string
	for _, r := range past {
		lines = append(lines, fmt.Sprint(r.Number, r.Difference, r.Discarded, r.Saved))
	}
	want := []string{
		"4 [{limit.burst.burst 5 3}] true true", "3 [{limit.burst.burst 7 5}] false true",
		"2 [{limit.burst.burst 5 7}] false true", "1 [{limit.burst.burst 3 5}] false true",
	}
	if err != nil || !reflect.DeepEqual(lines, want) {
		t.Errorf("history %q, %v, want %q", lines, err, want)
	}
	o.mustRevise(8)
	if done, err := o.Revert(t.Context(), request, 4); err != nil || done.Changes != nil {
		t.Errorf("a discarded revision: %+v, %v", done, err)
	}
	o.wantBurst(3)
	o.store.err = errors.New("damaged")
	if _, err := o.Revert(t.Context(), request, 1); !errors.Is(err, ErrHistory) {
		t.Errorf("unreadable: %v", err)
	}
}

// TestReload_LiveChangesStay checks that keys without live changes follow the file, and that
// followers are notified once.
func TestReload_LiveChangesStay(t *testing.T) {
	o := newOffice(t)
	o.mustRevise(5)
	next := &file{all: bursting(4), own: map[string]chatguard.Policy{"2": bursting(8)}}
	next.all.Limits[1].Messages = 500
	accepted := 0
	if err := o.Reload(next, func() error { accepted++; return nil }); err != nil || accepted != 1 {
		t.Errorf("accepted %d times, %v", accepted, err)
	}
	o.wantBurst(5)
	if p := o.guard.ChannelPolicy(channel); p.Limits[1].Messages != 500 {
		t.Errorf("the daily limit is %d", p.Limits[1].Messages)
	}
	if n := o.guard.ChannelPolicy("2").Limits[0].Burst; n != 8 {
		t.Errorf("channel 2 has a burst of %d", n)
	}
	live := o.LiveChanges()
	if len(live) != 1 || live[0].Author != "berta" || live[0].Number != 1 || fmt.Sprint(live[0].Difference) != "[{limit.burst.burst 4 5}]" {
		t.Errorf("changed live: %+v", live)
	}
	o.wantTold("revised 1 1 by berta", "reloaded")
	must(t, errorOf(o.Discard(t.Context(), Request{ChannelID: channel})))
	o.wantBurst(4)
}

// TestReload_NobodyElseChangesPolicies checks that nobody can change policies during a reload. This
// includes the call of accept and the return to the previous base.
func TestReload_NobodyElseChangesPolicies(t *testing.T) {
	o := newOffice(t)
	o.mustRevise(5)
	var asked []string
	asks := func(name string) func() {
		return func() { o.wantChanging(); asked = append(asked, name) }
	}
	o.file.asked = asks("old")
	next := &file{all: bursting(4), asked: asks("next")}
	errFull := errors.New("too many channels")
	for _, want := range []error{errFull, nil} {
		if err := o.Reload(next, func() error { asks("accept")(); return want }); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	if want := []string{"next", "accept", "old", "next", "accept"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

// TestReload_UnsavedChangesStay checks that a reload during database trouble keeps unsaved changes.
func TestReload_UnsavedChangesStay(t *testing.T) {
	now := time.Now()
	o := newOffice(t)
	o.now = func() time.Time { now = now.Add(time.Second); return now }
	o.store.unsaved = true
	if done := o.mustRevise(5); done.Saved || o.IsSaved(channel) {
		t.Errorf("saved: %+v", done)
	}
	o.store.err = errors.New("can't be read")
	must(t, o.Reload(&file{all: bursting(4)}, func() error { return nil }))
	o.wantBurst(5)
	for range 2 {
		o.notifySaved(func() journal.Database { return journal.Database{State: journal.DatabaseOK} })
	}
	o.wantTold("revised 1 1 by berta", "reloaded", "saved 1")
	if !o.IsSaved(channel) {
		t.Error("the change still counts as unsaved")
	}
}

func TestReload_RefusedGoesBack(t *testing.T) {
	o := newOffice(t)
	o.mustRevise(5)
	before := Tag(o.guard.ChannelPolicy(channel))
	errFull := errors.New("too many channels")
	changed := bursting(9)
	changed.Limits[1].Messages = 1
	for name, test := range map[string]struct {
		next   *file
		accept error
		want   string
	}{
		"by the Guard":   {&file{all: bursting(-1)}, nil, `"burst"`},
		"of a channel":   {&file{all: changed, own: map[string]chatguard.Policy{"2": bursting(-1)}}, nil, `"burst"`},
		"by who accepts": {&file{all: changed}, errFull, errFull.Error()},
	} {
		if err := o.Reload(test.next, func() error { return test.accept }); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
		if all := o.guard.Policy().Limits[0].Burst; Tag(o.guard.ChannelPolicy(channel)) != before || all != 3 {
			t.Errorf("%s: in force %+v, elsewhere a burst of %d", name, o.guard.ChannelPolicy(channel), all)
		}
		if n := o.Base(channel).Limits[0].Burst; n != 3 {
			t.Errorf("%s: the base has a burst of %d", name, n)
		}
	}
	o.mustRevise(6)
}

// TestRestore_ARevisionThatNoLongerFits checks that only the changes that no longer fit are
// dropped.
func TestRestore_ARevisionThatNoLongerFits(t *testing.T) {
	o := newOffice(t)
	fewer := edited(func(p *chatguard.Policy) { p.Limits[0].Burst, p.Limits[1].Messages = 5, 7 })
	must(t, errorOf(o.Revise(t.Context(), Request{ChannelID: channel, Author: "berta"}, fewer)))
	o.file.all.Limits = o.file.all.Limits[:1]
	o.start()
	o.wantBurst(5)
	if text := o.log.String(); len(o.guard.ChannelPolicy(channel).Limits) != 1 || !strings.Contains(text, "no longer fits the configuration's policy\"") ||
		!strings.Contains(text, "key=limit.daily.messages") {
		t.Errorf("the log says\n%s", text)
	}
}

func TestRestore_ARevisionThatCantBeUsed(t *testing.T) {
	for name, base := range map[string]func(*Options){"configuration": func(*Options) {}, "program": givenByProgram} {
		o := newOffice(t)
		o.store.stored = []journal.Revision{{ChannelID: channel, Number: 4, Author: "mallory", Unreadable: errors.New("garbled")}}
		o.start(base, func(o *Options) { o.Fix = func(string) string { return "discard it" } })
		o.wantBurst(3)
		if left := o.LeftOut(); len(left) != 1 || left[0].Number != 4 || left[0].Problem.Error() != "garbled" {
			t.Errorf("%s: left out %+v", name, left)
		}
		if text := o.log.String(); !strings.Contains(text, `fix="discard it"`) || !strings.Contains(text, "can't be used; the "+name+"'s policy applies") {
			t.Errorf("%s: the log says\n%s", name, text)
		}
		o.mustRevise(5)
		if left := o.LeftOut(); len(left) > 0 {
			t.Errorf("%s: left out after a change: %+v", name, left)
		}
	}
}

// TestRestore_AnUnacceptablePolicyObserves checks that a policy that has become unacceptable only
// observes. It isn't refused, because nobody is asking for it now.
func TestRestore_AnUnacceptablePolicyObserves(t *testing.T) {
	enforcing := bursting(3)
	enforcing.Mode = chatguard.ModeEnforce
	o := newOffice(t)
	o.file.own = map[string]chatguard.Policy{channel: enforcing, "2": enforcing}
	o.start(func(o *Options) {
		o.Acceptable = func(channelID string, _ chatguard.Policy) error {
			if channelID == channel {
				return errors.New("nobody can do that")
			}
			return nil
		}
	})
	if here, there := o.guard.ChannelPolicy(channel).Mode, o.guard.ChannelPolicy("2").Mode; here != chatguard.ModeObserve || there != chatguard.ModeEnforce {
		t.Errorf("here %s, there %s", here, there)
	}
}

// TestLiveChanges_AreInForce checks that LiveChanges names only what the Guard has.
func TestLiveChanges_AreInForce(t *testing.T) {
	enforce := edited(func(p *chatguard.Policy) { p.Mode, p.Limits[0].Burst = chatguard.ModeEnforce, 5 })
	refused := errors.New("nobody can do that")
	t.Run("unacceptable", func(t *testing.T) {
		o := newOffice(t)
		must(t, errorOf(o.Revise(t.Context(), Request{ChannelID: channel, Author: "berta"}, enforce)))
		o.start(func(o *Options) { o.Acceptable = func(string, chatguard.Policy) error { return refused } })
		live := o.LiveChanges()
		if len(live) != 1 || live[0].Unacceptable != refused || fmt.Sprint(live[0].Difference) != "[{limit.burst.burst 3 5}]" ||
			!reflect.DeepEqual(live[0].InForce, o.guard.ChannelPolicy(channel)) {
			t.Errorf("changed live %+v, in force %+v", live, o.guard.ChannelPolicy(channel))
		}
	})
	t.Run("refused by the Guard", func(t *testing.T) {
		o := newOffice(t)
		o.mustRevise(5)
		err := inner.At(o.guard, time.Now()).SetOverlay(channel, func(p chatguard.Policy) chatguard.Policy {
			if p.Limits[0].Burst == 5 && p.Limits[1].Messages == 500 {
				p.Limits[0].Burst = -1
			}
			return p
		})
		next := &file{all: bursting(4)}
		next.all.Limits[1].Messages = 500
		must(t, errors.Join(err, o.Reload(next, func() error { return nil })))
		o.wantBurst(4)
		live, left := o.LiveChanges(), o.LeftOut()
		if len(live) != 1 || len(live[0].Difference) > 0 || len(left) != 1 || left[0].Problem == nil {
			t.Errorf("changed live %+v, left out %+v", live, left)
		}
	})
}

// TestEnter_PutsTheLastRevisionInForce checks that once a channel's ID is known, changes made since
// the start apply on top of its own policy.
func TestEnter_PutsTheLastRevisionInForce(t *testing.T) {
	o := newOffice(t)
	o.mustRevise(5)
	own := bursting(3)
	own.Limits[1].Messages = 70
	o.file.own = map[string]chatguard.Policy{channel: own}
	must(t, o.Enter(channel))
	o.wantBurst(5)
	if n := o.guard.ChannelPolicy(channel).Limits[1].Messages; n != 70 {
		t.Errorf("the daily limit is %d", n)
	}
}

// TestBase_GivenByTheProgram checks that the base is the policy that the program last gave to the
// channel.
func TestBase_GivenByTheProgram(t *testing.T) {
	o := newOffice(t, givenByProgram)
	o.mustRevise(5)
	if n := o.Base(channel).Limits[0].Burst; n != 3 {
		t.Errorf("the base has a burst of %d", n)
	}
	must(t, inner.At(o.guard, time.Now()).SetPolicy(bursting(4)))
	if n := o.Base(channel).Limits[0].Burst; n != 4 {
		t.Errorf("after a change for all channels the base has a burst of %d", n)
	}
	must(t, inner.At(o.guard, time.Now()).SetChannelPolicy(channel, bursting(6)))
	if n := o.Base(channel).Limits[0].Burst; n != 6 {
		t.Errorf("after a change for the channel the base has a burst of %d", n)
	}
	o.mustRevise(7)
	must(t, errorOf(o.Discard(t.Context(), Request{ChannelID: channel})))
	o.wantBurst(6)
}

// TestDiscard_Mode checks that watchers learn the mode of the configuration, which is in force.
func TestDiscard_Mode(t *testing.T) {
	o := newOffice(t)
	o.file.all.Mode = chatguard.ModeObserve
	o.start()
	must(t, errorOf(o.Revise(t.Context(), Request{ChannelID: channel, Author: "berta"}, edited(func(p *chatguard.Policy) { p.Mode = chatguard.ModeEnforce }))))
	var modes []chatguard.Mode
	o.Followers.Watch(func(a journal.Audit) { modes = append(modes, a.Detail.(journal.PolicyDetail).Mode) })
	must(t, errorOf(o.Discard(t.Context(), Request{ChannelID: channel, Author: "berta"})))
	if !slices.Equal(modes, []chatguard.Mode{chatguard.ModeObserve}) {
		t.Errorf("told %v, want observe", modes)
	}
}
