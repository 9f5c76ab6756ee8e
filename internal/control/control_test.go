package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/policies/policiestest"
	"github.com/chatguard/chatguard/internal/roles"
)

// memory is a Store in memory that can be made to fail.
type memory struct {
	audits   []string
	detail   journal.Detail    // of the last record
	settings map[string]string // by channel and name
	entries  map[chatguard.EntryID]journal.Entry
	last     chatguard.EntryID
	recorded []journal.Audit
	stored   []journal.Revision // in order
	unsaved  bool
	err      error
	notes    []journal.Note

	// mu guards settings, stored and the next fields.
	mu           sync.Mutex
	settingTakes time.Duration
}

// slow makes storing a setting take d.
func (m *memory) slow(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settingTakes = d
}

func (m *memory) setting(key string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.settings[key]
}

func (m *memory) Record(_ context.Context, a journal.Audit) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.recorded = append(m.recorded, a)
	}
	m.audits, m.detail = append(m.audits, fmt.Sprintf("%s %s %s by %s", a.ChannelID, a.Action, a.UserID, a.Author)), a.Detail
	return !m.unsaved, m.err
}

func (m *memory) AddNote(n journal.Note) (journal.Note, error) {
	n.ID = int64(len(m.notes) + 1)
	m.notes = append(m.notes, n)
	return n, m.err
}

func (m *memory) DeleteNote(channelID, userID string, id int64) (journal.Note, bool, error) {
	i := slices.IndexFunc(m.notes, func(n journal.Note) bool { return n.ID == id && n.ChannelID == channelID && n.UserID == userID })
	if i < 0 || m.err != nil {
		return journal.Note{}, false, m.err
	}
	n := m.notes[i]
	m.notes = slices.Delete(m.notes, i, i+1)
	return n, true, nil
}

func (m *memory) Commit(context.Context) bool { return !m.unsaved }

func (m *memory) SaveSetting(_ context.Context, channelID, name, value string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		takes := m.settingTakes
		m.mu.Unlock()
		time.Sleep(takes) // simulated time
		m.mu.Lock()
		m.settings[channelID+" "+name] = value
	}
	return !m.unsaved, m.err
}

func (m *memory) Entry(_ context.Context, id chatguard.EntryID) (journal.Entry, bool, error) {
	e, ok := m.entries[id]
	return e, ok, m.err
}

func (m *memory) Entries(_ context.Context, wanted journal.EntryFilter) (entries []journal.Entry, err error) {
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(m.entries))) {
		if e := m.entries[id]; e.UserID == wanted.UserID && e.ChannelID == wanted.ChannelID && (wanted.Before == 0 || id < wanted.Before) && len(entries) < wanted.N {
			entries = append(entries, e)
		}
	}
	return entries, m.err
}

func (m *memory) Silencing(_ context.Context, since time.Time, isWanted func(*journal.Entry) bool, n int) (entries []journal.Entry, err error) {
	seen := map[journal.Target]bool{}
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(m.entries))) {
		e := m.entries[id]
		if a := e.Outcome.Action; e.Outcome.Result != journal.Done || a != chatguard.ActionTimeout && a != chatguard.ActionBan {
			continue
		}
		t := journal.Target{ChannelID: e.ChannelID, UserID: e.UserID}
		if !e.At.Before(since) && !seen[t] && isWanted(&e) && len(entries) < n {
			entries = append(entries, e)
		}
		seen[t] = true
	}
	return entries, m.err
}

func (m *memory) SaveRevision(_ context.Context, r journal.Revision) (journal.Revision, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return r, false, m.err
	}
	r.Number = 1
	for _, earlier := range m.stored {
		if earlier.ChannelID == r.ChannelID {
			r.Number = earlier.Number + 1
		}
	}
	m.stored = append(m.stored, r)
	return r, !m.unsaved, nil
}

func (m *memory) DiscardRevisions(ctx context.Context, channelID, author string) (journal.Revision, bool, error) {
	return m.SaveRevision(ctx, journal.Revision{ChannelID: channelID, Author: author, At: time.Now()})
}

func (m *memory) Revisions(context.Context, string, int, int) ([]journal.Revision, bool, error) {
	return nil, false, m.err
}

func (m *memory) CurrentRevisions(context.Context) ([]journal.Revision, error) { return nil, m.err }

// Audits filters by channel, user, action and ID. Details are as from a database.
func (m *memory) Audits(_ context.Context, wanted journal.AuditFilter) (audits []journal.Audit, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range slices.Backward(m.recorded) {
		if wanted.ChannelID != "" && a.ChannelID != wanted.ChannelID || wanted.UserID != "" && a.UserID != wanted.UserID || wanted.Before != 0 && a.ID >= wanted.Before || wanted.Action != "" && a.Action != wanted.Action || len(audits) == wanted.N {
			continue
		}
		data, err := json.Marshal(a.Detail)
		if err != nil {
			return nil, err
		}
		a.Detail = journal.StoredDetail(data)
		audits = append(audits, a)
	}
	return audits, m.err
}

// harness is Controls over a Guard with limits of one message per hour and 300 per day.
type harness struct {
	*testing.T
	*Controls
	guard    *chatguard.Guard
	policies *policies.Policies
	store    *memory
	docs     *policiestest.Node // nil if there are no other nodes
	follower *follower
	log      bytes.Buffer
	lifted   []string
	lift     error                        // the error of lifting
	kept     map[string]map[string]string // what Restore receives
	id       int
}

const channel = "1"

func newHarness(t *testing.T, raid Raid) *harness {
	t.Helper()
	policy := config.DefaultPolicy()
	policy.Mode = chatguard.ModeEnforce
	policy.Limits[0].Burst, policy.Limits[0].Refill = 1, time.Hour
	policy.Penalties.Ladder = []chatguard.Penalty{{Action: chatguard.ActionTimeout, Duration: 30 * time.Second}}
	d := &harness{T: t, store: &memory{settings: map[string]string{}, entries: map[chatguard.EntryID]journal.Entry{}}}
	var err error
	if d.guard, err = chatguard.New(policy, nil); err != nil {
		t.Fatal(err)
	}
	d.start(raid)
	return d
}

// start creates Policies and Controls, as a new process does.
func (d *harness) start(raid Raid) {
	o := policies.Options{Guard: d.guard, Store: d.store}
	if d.docs != nil {
		o.Documents = d.docs
	}
	d.policies, d.follower = policies.New(o), &follower{}
	d.policies.Followers.Follow(d.follower)
	d.log.Reset()
	d.Controls = New(Options{
		Guard: d.guard, Policies: d.policies, Store: d.store, Settings: Settings{Raid: raid}, Log: slog.New(slog.NewTextHandler(&d.log, nil)),
	})
	d.Join(Chat{
		User: func(_ context.Context, _, name string) (string, string, error) {
			if name == "nobody" {
				return "", "", ErrNoUser
			}
			return "id of " + strings.ToLower(name), strings.ToLower(name), nil
		},
		Lift: func(_ context.Context, channelID, userID string) error {
			d.lifted = append(d.lifted, channelID+" "+userID)
			return d.lift
		},
	})
	d.Restore(d.kept)
}

// say lets a user write a message now.
func (d *harness) say(login string, roles ...chatguard.Role) chatguard.Verdict {
	d.Helper()
	d.id++
	m := chatguard.Message{ID: fmt.Sprint(d.id), ChannelID: channel, SentAt: time.Now(), User: chatguard.User{ID: "id of " + login, Login: login, Roles: chatguard.Roles(roles)}}
	v, err := d.guard.Check(d.Context(), m)
	must(d, err)
	if v.Throttled() {
		e := journal.NewEntry(m, v)
		e.Outcome.Result = journal.Done
		d.store.entries[v.EntryID], d.store.last = e, v.EntryID
	}
	return v
}

// passes checks whether a user's next message would be allowed.
func (d *harness) passes(login string, want bool, roles ...chatguard.Role) {
	d.Helper()
	if v := d.say(login, roles...); v.Allowed != want {
		d.Errorf("%s: allowed %v, want %v (%+v)", login, v.Allowed, want, v)
	}
}

// command runs a chat command as the moderator berta and checks the answer.
func (d *harness) command(text, want string) {
	d.Helper()
	m := chatguard.Message{ChannelID: channel, Text: text, User: chatguard.User{ID: "9", Login: "berta", Roles: chatguard.Roles{chatguard.RoleModerator}}}
	if got := d.Commands.Answer(d.Context(), m); got != want {
		d.Errorf("%s: %q\nwant %q", text, got, want)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func errorOf[T any](_ T, err error) error { return err }

// wantAudits fails the test unless these are the changes in the audit.
func (d *harness) wantAudits(want ...string) {
	d.Helper()
	if !slices.Equal(d.store.audits, want) {
		d.Errorf("in the audit are %q, want %q", d.store.audits, want)
	}
}

// runControls runs the Controls until the test ends.
func (d *harness) runControls() {
	ctx, cancel := context.WithCancel(d.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Controls.Raids.Run(ctx) }()
	d.Cleanup(func() { cancel(); <-ended })
}

// inBubble runs a test in simulated time.
func inBubble(t *testing.T, raid Raid, play func(*harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { play(newHarness(t, raid)) })
}

func TestCommands(t *testing.T) {
	const limits = "burst (1, one more every 1h), daily (300 a day)."
	inBubble(t, Raid{}, func(d *harness) {
		d.command("!chatguard", usage)
		d.command("!chatguard help", usage)
		d.command("!chatguard status", "I enforce "+limits)
		d.passes("anna", true)
		d.passes("anna", false)
		d.command("!chatguard pause", "Paused: I only watch until !chatguard resume.")
		d.passes("anna", true)
		d.command("!chatguard status", "Paused by twitch:berta: I only watch "+limits)
		d.command("!chatguard resume", "Resumed. I enforce "+limits)
		d.passes("anna", false)
		d.command("!chatguard observe", "I only watch from now on.")
		d.passes("anna", true)
		d.command("!chatguard enforce", "I enforce the limits from now on.")
		d.passes("anna", false)
		d.command("!chatguard grant @Anna 2", "@anna has 2 more messages for 24 h 0 min.")
		d.command("!chatguard reset @anna", "@anna has been reset.")
		d.passes("anna", true)
		d.passes("anna", false)
		d.command("!chatguard exempt anna 10m", "@anna has no limits for 10 min.")
		d.passes("anna", true)
		d.passes("anna", true)
		time.Sleep(11 * time.Minute)
		d.passes("anna", false)
		d.command("!chatguard set burst 5", "Set. I enforce burst (5, one more every 1h), daily (300 a day).")
		d.command("!chatguard set burst refill 4s", "Set. I enforce burst (5, one more every 4s), daily (300 a day).")
		d.command("!chatguard set daily period week", "Set. I enforce burst (5, one more every 4s), daily (300 a week).")
		d.command("!chatguard set daily first_day Sunday", "Set. I enforce burst (5, one more every 4s), daily (300 a week).")
		d.command("!chatguard set daily period month", "Set. I enforce burst (5, one more every 4s), daily (300 a month).")
		d.command("!chatguard set daily period day", "Set. I enforce burst (5, one more every 4s), daily (300 a day).")
		d.passes("anna", true)
	})
}

func TestCommands_Refused(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		for text, want := range map[string]string{
			"!chatguard dance":                   "Not done: the commands are " + usage,
			"!chatguard grant":                   "Not done: the commands are " + usage,
			"!chatguard grant @anna":             "Not done: use grant @user 10",
			"!chatguard grant @anna many":        `Not done: "many" is not a number of messages`,
			"!chatguard grant @anna 0":           "Not done: a grant must be between 1 and 2147483647 messages",
			"!chatguard grant @nobody 3":         "Not done: there is no user @nobody",
			"!chatguard pardon @anna":            "Not done: there is nothing to pardon",
			"!chatguard exempt @anna":            "Not done: use exempt @user 10m",
			"!chatguard exempt @anna ever":       `Not done: "ever" is not a duration such as "10m"`,
			"!chatguard exempt @anna -10m":       `Not done: "-10m" is not a duration such as "10m"`,
			"!chatguard exempt @anna 366d":       `Not done: "366d" is not a duration such as "10m"`,
			"!chatguard set":                     "Not done: use set burst 5, or set burst refill 4s",
			"!chatguard set bust 5":              `Not done: there is no limit "bust" here, only burst, daily`,
			"!chatguard set burst five":          `Not done: burst must be a whole number from 1 to 2147483647, not "five"`,
			"!chatguard set burst 0":             `Not done: burst must be a whole number from 1 to 2147483647, not "0"`,
			"!chatguard set burst refill five":   `Not done: refill must be a duration such as "4s", not "five"`,
			"!chatguard set daily period year":   `Not done: limit "daily": period is "year", want day, week, month`,
			"!chatguard set burst from_length 5": `Not done: limit "burst": "from_length" is only for limits on repeated text: set per to user-text or text, or leave it out`,
			"!chatguard set burst from_length 0": `Not done: from_length must be a whole number from 1 to 500, not "0"`,
			"!chatguard set burst from_length x": `Not done: from_length must be a whole number from 1 to 500, not "x"`,
			"!chatguard set burst similar true":  "Not done: set changes burst, refill, extra_burst, extra_refill, messages, every, slices, queue, reserve, period, first_day and from_length; the page Limits changes the rest",
			"!chatguard raid":                    "Not done: use raid on, raid on 10m, or raid off",
			"!chatguard raid on 25h":             "Not done: raid mode lasts from 1 s to 24 h, not 25h",
		} {
			d.command(text, want)
		}
		before := d.guard.ChannelPolicy(channel)
		m := chatguard.Message{ChannelID: channel, Text: "!chatguard set burst refill 0s", User: chatguard.User{Login: "berta"}}
		if said := d.Commands.Answer(d.Context(), m); !strings.HasPrefix(said, `Not done: limit "burst"`) || d.guard.ChannelPolicy(channel).Limits[0].Burst != before.Limits[0].Burst {
			t.Errorf("said %q", said)
		}
		d.wantAudits()
	})
}

func TestCommands_StoreInTrouble(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		d.store.unsaved = true
		d.command("!chatguard pause", "Paused: I only watch until !chatguard resume. Not saved yet: the database is failing.")
		d.command("!chatguard set daily 5", "Set. Paused by twitch:berta: I only watch burst (1, one more every 1h), daily (5 a day). Not saved yet: the database is failing.")
		d.store.err = errors.New("disk I/O error at sector 7")
		d.command("!chatguard reset @anna", "@anna has been reset. But it is not recorded in the audit: the database is failing.")
		d.command("!chatguard pardon @anna", "Not done: the database is failing")
	})
}

// A pardon lifts the timeout and takes the strike back. The second pardon has no effect.
func TestPardon(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		d.passes("anna", true)
		v := d.say("anna")
		if v.Strikes != 1 {
			t.Fatalf("%+v", v)
		}
		d.command("!chatguard pardon @anna", "@anna is pardoned.")
		d.command("!chatguard pardon @anna", "@anna is pardoned.")
		d.standing("pardoned", 0, false)
		if !slices.Equal(d.lifted, []string{"1 id of anna", "1 id of anna"}) {
			t.Errorf("lifted %q", d.lifted)
		}
		d.wantAudits("1 pardon id of anna by twitch:berta")
		if _, _, err := d.Pardons.PardonEntry(d.Context(), 12345, "berta"); !errors.Is(err, ErrNoEntry) {
			t.Error(err)
		}
	})
}

// The timeout may belong to the message before the newest one, which then has no penalty of its
// own.
func TestPardon_LiftsEarlierTimeout(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		for range 3 {
			d.say("anna")
		}
		e := d.store.entries[d.store.last]
		e.Outcome.Result = journal.Skipped
		d.store.entries[d.store.last] = e
		for id, e := range d.store.entries {
			e.Outcome.At = time.Now()
			d.store.entries[id] = e
		}
		d.command("!chatguard pardon @anna", "@anna is pardoned.")
		if !slices.Equal(d.lifted, []string{"1 id of anna"}) {
			t.Errorf("lifted %q", d.lifted)
		}
	})
}

// A longer or permanent exemption is kept, and so is an override that forbids exemption.
func TestExempt_ShortensNothing(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		set := func(o chatguard.UserOverride) {
			t.Helper()
			must(t, inner.At(d.guard, time.Now()).SetUserOverride(t.Context(), chatguard.Key{ChannelID: channel, UserID: "id of anna"}, o))
		}
		exempt := func(want chatguard.UserOverride) {
			t.Helper()
			if got, err := d.guard.UserOverride(t.Context(), chatguard.Key{ChannelID: channel, UserID: "id of anna"}); err != nil || got.Exempt != want.Exempt || !got.ExemptUntil.Equal(want.ExemptUntil) {
				t.Errorf("%+v, %v; want %+v", got, err, want)
			}
		}
		for _, had := range []chatguard.UserOverride{
			{Exempt: chatguard.ExemptAlways}, {Exempt: chatguard.ExemptAlways, ExemptUntil: time.Now().Add(time.Hour)},
		} {
			set(had)
			d.command("!chatguard exempt @anna 10m", "@anna has no limits for 10 min.")
			exempt(had)
		}
		d.command("!chatguard exempt @anna 2d", "@anna has no limits for 2 days.")
		exempt(chatguard.UserOverride{Exempt: chatguard.ExemptAlways, ExemptUntil: time.Now().Add(48 * time.Hour)})
		set(chatguard.UserOverride{Exempt: chatguard.ExemptNever})
		d.command("!chatguard exempt @anna 10m", "Not done: the user is set to never exempt: change their custom limits first")
	})
}

// Raid mode lasts as long as requested, whatever the wall clock does.
func TestRaid_EndsDespiteClockSteps(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		step := time.Duration(0)
		now := func() time.Time { return time.Now().Add(step) }
		d.Switches.records.now, d.Switches.overlays.now = now, now
		_, _, err := d.Raids.Start(d.Context(), channel, "berta", 10*time.Minute)
		must(t, err)
		for _, step = range []time.Duration{2 * time.Hour, -2 * time.Hour, 48 * time.Hour, -61 * time.Second} {
			<-time.After(2 * time.Minute)
			if d.Raids.endDue(d.Context()); d.Switches.Of(channel).RaidUntil.IsZero() {
				t.Fatalf("raid mode ended after a step of %v", step)
			}
		}
		<-time.After(2 * time.Minute)
		if d.Raids.endDue(d.Context()); !d.Switches.Of(channel).RaidUntil.IsZero() {
			t.Error("raid mode goes on after 10 minutes")
		}
	})
}

// TestSwitches_LastChangeIsStored checks that the stored switches are those in force, whichever
// change is stored first.
func TestSwitches_LastChangeIsStored(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		d.store.settingTakes = time.Second
		d.kept = map[string]map[string]string{}
		for n := range 10 {
			var both sync.WaitGroup
			both.Go(func() { _, _ = d.Switches.Pause(d.Context(), channel, "carla") })
			both.Go(func() {
				time.Sleep(time.Duration(n) * 300 * time.Millisecond)
				_, _ = d.Switches.Resume(d.Context(), channel, "dora")
			})
			both.Wait()
			if got, want := d.store.setting(channel+" "+pauseSetting), d.Switches.Of(channel).PausedBy; got != want {
				t.Errorf("stored %q, in force %q", got, want)
			}
		}
	})
}

// The end of an earlier raid mode does not end a newer one.
func TestRaid_RestartedGoesOn(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		d.runControls()
		begin := func(channelID string, length time.Duration) {
			t.Helper()
			_, _, err := d.Raids.Start(d.Context(), channelID, "berta", length)
			must(t, err)
		}
		begin("1", 10*time.Second)
		begin("2", 10*time.Second)
		d.store.slow(2 * time.Second) // several are stored within saveTime
		time.Sleep(11 * time.Second)  // the end of the first is being stored
		begin("1", time.Hour)
		begin("2", time.Hour)
		d.store.slow(0)
		time.Sleep(time.Minute)
		for _, id := range []string{"1", "2"} {
			if until := d.Switches.Of(id).RaidUntil; time.Until(until) < 58*time.Minute || d.store.setting(id+" "+raidSetting) != until.Format(time.RFC3339) {
				t.Errorf("channel %s: until %s, stored %q", id, until, d.store.setting(id+" "+raidSetting))
			}
		}
	})
}

// A user with tighter limits keeps them, and roles with their own numbers keep these.
func TestRaid_LoosensNothing(t *testing.T) {
	raid := Raid{FirstTimerBurst: 1, FirstTimerRefill: Duration(30 * time.Second)}
	limit := func(own map[chatguard.Role]chatguard.Override) chatguard.Policy {
		return chatguard.Policy{Limits: []chatguard.Limit{{Name: "burst", Algorithm: chatguard.TokenBucket, Burst: 3, Refill: 4 * time.Second, Roles: own}}}
	}
	type numbers = map[chatguard.Role]chatguard.Override
	for name, test := range map[string]struct {
		before numbers
		want   numbers
		burst  int
		refill time.Duration
	}{
		"nobody has any": {nil, numbers{roles.FirstTimer: {Burst: 1, Refill: 30 * time.Second}}, 3, 4 * time.Second},
		"stricter first-timers": {
			numbers{roles.FirstTimer: {Refill: 5 * time.Minute}},
			numbers{roles.FirstTimer: {Burst: 1, Refill: 5 * time.Minute}}, 3, 4 * time.Second,
		},
		"everyone": {
			numbers{chatguard.RoleEveryone: {Refill: 20 * time.Second}, roles.Subscriber: {Burst: 5}},
			numbers{roles.FirstTimer: {Burst: 1, Refill: 30 * time.Second}, roles.Subscriber: {Burst: 5, Refill: 4 * time.Second}}, 3, 20 * time.Second,
		},
	} {
		got := raid.over(limit(test.before)).Limits[0]
		if !maps.Equal(got.Roles, test.want) || got.Burst != test.burst || got.Refill != test.refill {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Limits on repeated text are the same in a raid: they throttle only what is repeated, and already
// as strictly as they should in one.
func TestRaid_KeepsTextLimits(t *testing.T) {
	raid := Raid{Burst: 30, Refill: Duration(time.Second), FirstTimerBurst: 1, FirstTimerRefill: Duration(30 * time.Second)}
	for _, per := range []chatguard.Scope{chatguard.PerUserText, chatguard.PerText} {
		same := chatguard.TokenBucketLimit("copies", 3, 10*time.Second)
		same.Per, same.Similar = per, true
		got := raid.over(chatguard.Policy{Limits: []chatguard.Limit{same}}).Limits
		if len(got) != 2 || got[0].Roles != nil || got[0].Burst != 3 || got[1].Name != "raid" {
			t.Errorf("%s: %+v", per, got)
		}
	}
}

// A reserve doesn't let first-timers write more: it is lowered while the raid lasts.
func TestRaid_LowersReserve(t *testing.T) {
	raid := Raid{FirstTimerBurst: 2, FirstTimerRefill: Duration(30 * time.Second)}
	got := raid.over(chatguard.Policy{Limits: []chatguard.Limit{{Name: "burst", Algorithm: chatguard.TokenBucket, Burst: 10, Refill: 4 * time.Second, Reserve: 6}}}).Limits[0]
	if newcomer := got.Roles[roles.FirstTimer]; newcomer.Burst != 2 || got.Reserve != 1 || got.Burst != 10 {
		t.Errorf("%+v", got)
	}
}

// During raid mode all users share a limit and first-timers have less. Afterwards everything is as
// before.
func TestRaid(t *testing.T) {
	raid := Raid{
		Lasts: Duration(5 * time.Minute), Burst: 3, Refill: Duration(time.Hour), FirstTimerBurst: 1, FirstTimerRefill: Duration(time.Hour),
	}
	inBubble(t, raid, func(d *harness) {
		d.runControls()
		d.command("!chatguard set burst 3", "Set. I enforce burst (3, one more every 1h), daily (300 a day).")
		d.command("!chatguard raid on", "Raid mode is on for 5 min.")
		d.passes("newcomer", true, roles.FirstTimer)
		d.passes("newcomer", false, roles.FirstTimer)
		d.passes("anna", true)
		d.passes("anna", true)
		d.passes("berta", false) // the shared burst of three is used up
		d.command("!chatguard status", "I enforce burst (3, one more every 1h), daily (300 a day), raid (3, one more every 1h). Raid mode lasts another 5 min.")
		time.Sleep(5*time.Minute + time.Second)
		synctest.Wait()
		d.passes("newcomer", true, roles.FirstTimer)
		d.passes("berta", true)
		d.command("!chatguard raid ON 1h \U000E0000", "Raid mode is on for 60 min.")
		d.command("!chatguard\ufe0f raid on 1h\u2800 \u034f", "Raid mode is on for 60 min.")
		d.command("!chatguard raid off", "Raid mode is off.")
		d.passes("carla", true, roles.FirstTimer)
		d.passes("carla", true, roles.FirstTimer)
		d.wantAudits("1 raid  by twitch:berta", "1 raid  by chatguard", "1 raid  by twitch:berta", "1 raid  by twitch:berta", "1 raid  by twitch:berta")
	})
}

// An override for everyone does not give first-timers the same numbers as others.
func TestRaid_OverridesEveryonesNumbers(t *testing.T) {
	inBubble(t, Raid{FirstTimerBurst: 1}, func(d *harness) {
		p := d.guard.ChannelPolicy(channel)
		p.Limits[0].Roles = map[chatguard.Role]chatguard.Override{chatguard.RoleEveryone: {Burst: 2}, roles.VIP: {Burst: 9}}
		must(t, inner.At(d.guard, time.Now()).SetChannelPolicy(channel, p))
		d.command("!chatguard raid on", "Raid mode is on for 10 min.")
		d.passes("newcomer", true, roles.FirstTimer)
		d.passes("newcomer", false, roles.FirstTimer)
		d.passes("anna", true)
		d.passes("anna", true)
		d.passes("anna", false)
		if got := d.guard.ChannelPolicy(channel).Limits[0].Roles; !maps.Equal(got, p.Limits[0].Roles) {
			t.Errorf("the policy itself has changed: %v", got)
		}
	})
}

// A pause and raid mode survive a restart and last as long as they would have.
func TestSwitches_SurviveRestart(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		d.command("!chatguard pause", "Paused: I only watch until !chatguard resume.")
		d.command("!chatguard raid on 1h", "Raid mode is on for 60 min.")
		until := d.Switches.Of(channel).RaidUntil
		restart := func() {
			d.kept = map[string]map[string]string{channel: {}}
			for key, value := range d.store.settings {
				d.kept[channel][strings.TrimPrefix(key, channel+" ")] = value
			}
			must(t, inner.At(d.guard, time.Now()).SetOverlay(channel, nil))
			d.start(Raid{})
		}
		restart()
		if got := d.Switches.Of(channel); got.PausedBy != "twitch:berta" || got.RaidBy != "twitch:berta" || !got.RaidUntil.Equal(until) {
			t.Errorf("%+v, want a pause and raid mode by twitch:berta until %v", got, until)
		}
		if inner.Of(d.guard).InForce(channel).Mode != chatguard.ModeObserve {
			t.Error("the pause isn't in force")
		}
		time.Sleep(time.Hour)
		d.command("!chatguard resume", "Resumed. I enforce burst (1, one more every 1h), daily (300 a day). Raid mode lasts another 0 s.")
		restart()
		if got := d.Switches.Of(channel); got != (Switches{}) {
			t.Errorf("%+v", got)
		}
	})
}

// A held channel only observes, and follows its policy again once the hold ends.
func TestHold(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		d.passes("anna", true)
		for _, reason := range []string{"type /mod bot", "type /mod bot", ""} {
			must(t, d.Switches.Hold(channel, reason))
			d.passes("anna", reason != "")
		}
		if len(d.store.audits) != 0 || len(d.store.settings) != 0 {
			t.Error("nobody has changed anything")
		}
	})
}

func TestQuota(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		ask := func(want string, roles ...chatguard.Role) {
			t.Helper()
			m := chatguard.Message{ChannelID: channel, Text: "!quota", User: chatguard.User{ID: "id of anna", DisplayName: "Anna", Roles: chatguard.Roles(roles)}}
			if got := d.Commands.Answer(d.Context(), m); got != want {
				t.Errorf("%q\nwant %q", got, want)
			}
		}
		ask("@Anna: messages left: burst 1 of 1; daily 300 of 300.")
		d.say("anna")
		time.Sleep(12 * time.Minute)
		ask("@Anna: messages left: burst 0 of 1, next in 48 min; daily 299 of 300, resets in 23 h 48 min.")
		ask("@Anna: you have no limits here.", roles.VIP, chatguard.RoleModerator)
		p := d.guard.ChannelPolicy(channel)
		p.Limits = []chatguard.Limit{{Name: "all", Algorithm: chatguard.TokenBucket, Per: chatguard.PerChannel, Burst: 5, Refill: time.Second}}
		must(t, inner.At(d.guard, time.Now()).SetChannelPolicy(channel, p))
		ask("@Anna: the limits here are shared by everyone.")

		same := chatguard.SlidingLogLimit("copies", 2, time.Minute)
		same.Per, same.FromLength, same.Roles = chatguard.PerUserText, 1, map[chatguard.Role]chatguard.Override{roles.Subscriber: {Messages: 5}}
		observed := same
		observed.Name, observed.Mode = "observed", chatguard.ModeObserve
		p.Limits = append(p.Limits, same, observed)
		must(t, inner.At(d.guard, time.Now()).SetChannelPolicy(channel, p))
		for range 3 { // the question isn't a text that is asked about
			ask("@Anna: only the same message is limited here: copies, for the same message (2 in 1m).")
		}
		ask("@Anna: only the same message is limited here: copies, for the same message (5 in 1m).", roles.Subscriber)
		p.Limits = append(p.Limits, chatguard.TokenBucketLimit("burst", 3, time.Second))
		must(t, inner.At(d.guard, time.Now()).SetChannelPolicy(channel, p))
		ask("@Anna: messages left: burst 3 of 3; copies, for the same message (2 in 1m).")
	})
}
