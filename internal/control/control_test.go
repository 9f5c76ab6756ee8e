package control

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// memory is a Store that keeps everything in memory, and can be in trouble.
type memory struct {
	audits   []string
	settings map[string]string // by channel and name
	entries  map[chatguard.EntryID]journal.Entry
	last     chatguard.EntryID
	unsaved  bool
	err      error
}

func (m *memory) Record(_ context.Context, a journal.Audit) (bool, error) {
	m.audits = append(m.audits, fmt.Sprintf("%s %s %s by %s", a.ChannelID, a.Action, a.UserID, a.Author))
	return !m.unsaved, m.err
}

func (m *memory) SaveSetting(_ context.Context, channelID, name, value string) (bool, error) {
	if m.err == nil {
		m.settings[channelID+" "+name] = value
	}
	return !m.unsaved, m.err
}

func (m *memory) Entry(_ context.Context, id chatguard.EntryID) (journal.Entry, bool, error) {
	e, ok := m.entries[id]
	return e, ok, m.err
}

func (m *memory) LastEntry(context.Context, string, string) (journal.Entry, bool, error) {
	e, ok := m.entries[m.last]
	return e, ok, m.err
}

// desk is Controls over a Guard that lets everyone say one thing an hour, and 300 a day.
type desk struct {
	*testing.T
	*Controls
	guard  *chatguard.Guard
	store  *memory
	lifted []string
	kept   map[string]map[string]string // what New is given
	id     int
}

const channel = "1"

func newDesk(t *testing.T, raid Raid) *desk {
	t.Helper()
	policy := chatguard.DefaultPolicy()
	policy.Mode = chatguard.Enforce
	policy.Limits[0].Burst, policy.Limits[0].Refill = 1, time.Hour
	policy.Penalties.Ladder = []chatguard.Penalty{{Action: chatguard.Timeout, Duration: 30 * time.Second}}
	d := &desk{T: t, store: &memory{settings: map[string]string{}, entries: map[chatguard.EntryID]journal.Entry{}}}
	var err error
	if d.guard, err = chatguard.New(policy, nil); err != nil {
		t.Fatal(err)
	}
	d.start(raid)
	return d
}

// start makes Controls, as a process does that is started.
func (d *desk) start(raid Raid) {
	d.Controls = New(Options{
		Guard: d.guard, Store: d.store, Raid: raid,
		Revise: func(_ context.Context, channelID, _ string, edit func(chatguard.Policy) (chatguard.Policy, error)) (bool, error) {
			p, err := edit(d.guard.Policy(channelID))
			if err == nil {
				err = d.guard.SetPolicy(channelID, p, time.Now())
			}
			return !d.store.unsaved, err
		},
		UserID: func(_ context.Context, _, login string) (string, error) {
			if login == "nobody" {
				return "", ErrNoUser
			}
			return "id of " + login, nil
		},
		Lift: func(_ context.Context, channelID, userID string) error {
			d.lifted = append(d.lifted, channelID+" "+userID)
			return d.store.err
		},
	}, d.kept)
}

// say lets a user say something now.
func (d *desk) say(login string, roles ...chatguard.Role) chatguard.Verdict {
	d.Helper()
	d.id++
	m := chatguard.Message{ID: fmt.Sprint(d.id), ChannelID: channel, SentAt: time.Now(), User: chatguard.User{ID: "id of " + login, Login: login, Roles: chatguard.RolesOf(roles...)}}
	v, err := d.guard.Check(d.Context(), m)
	if err != nil {
		d.Fatal(err)
	}
	if v.Throttled() {
		e := journal.NewEntry(m, v)
		e.Outcome.Result = journal.Done
		d.store.entries[v.EntryID], d.store.last = e, v.EntryID
	}
	return v
}

// passes checks whether a user's next message would.
func (d *desk) passes(login string, want bool, roles ...chatguard.Role) {
	d.Helper()
	if v := d.say(login, roles...); v.Allowed != want {
		d.Errorf("%s: allowed %v, want %v (%+v)", login, v.Allowed, want, v)
	}
}

// command gives a command in chat as the moderator berta.
func (d *desk) command(text, want string) {
	d.Helper()
	m := chatguard.Message{ChannelID: channel, Text: text, User: chatguard.User{ID: "9", Login: "berta", Roles: chatguard.RolesOf(chatguard.Moderator)}}
	if got := d.Command(d.Context(), m); got != want {
		d.Errorf("%s: %q\nwant %q", text, got, want)
	}
}

// inBubble plays a test in simulated time.
func inBubble(t *testing.T, raid Raid, play func(*desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { play(newDesk(t, raid)) })
}

func TestCommands(t *testing.T) {
	const limits = "burst (1, one more every 1h0m0s), daily (300 a day)."
	inBubble(t, Raid{}, func(d *desk) {
		d.command("!chatguard", usage)
		d.command("!chatguard status", "I enforce "+limits)
		d.passes("anna", true)
		d.passes("anna", false)
		d.command("!chatguard pause", "Paused: I only watch until !chatguard resume.")
		d.passes("anna", true)
		d.command("!chatguard status", "Paused by berta: I only watch "+limits)
		d.command("!chatguard resume", "Going on. I enforce "+limits)
		d.passes("anna", false)
		d.command("!chatguard observe", "I only watch from now on.")
		d.passes("anna", true)
		d.command("!chatguard enforce", "I enforce the limits from now on.")
		d.passes("anna", false)
		d.command("!chatguard grant @Anna 2", "@anna has 2 more messages for 24 h 0 min.")
		d.command("!chatguard reset @anna", "@anna starts fresh.")
		d.passes("anna", true)
		d.passes("anna", false)
		d.command("!chatguard exempt anna 10m", "@anna has no limits for 10 min.")
		d.passes("anna", true)
		d.passes("anna", true)
		time.Sleep(11 * time.Minute)
		d.passes("anna", false)
		d.command("!chatguard set burst 5", "Set. I enforce burst (5, one more every 1h0m0s), daily (300 a day).")
		d.command("!chatguard set burst refill 4s", "Set. I enforce burst (5, one more every 4s), daily (300 a day).")
		d.passes("anna", true)
	})
}

func TestCommandsRefused(t *testing.T) {
	inBubble(t, Raid{}, func(d *desk) {
		for text, want := range map[string]string{
			"!chatguard dance":                 "Not done: I know " + usage,
			"!chatguard grant":                 "Not done: I know " + usage,
			"!chatguard grant @anna":           "Not done: it is grant @user 10",
			"!chatguard grant @anna many":      `Not done: "many" is no number of messages`,
			"!chatguard grant @anna 0":         "Not done: a grant is of 1 to 2147483647 messages",
			"!chatguard grant @nobody 3":       "Not done: there is no user @nobody",
			"!chatguard pardon @anna":          "Not done: there is nothing to pardon",
			"!chatguard exempt @anna":          "Not done: it is exempt @user 10m",
			"!chatguard exempt @anna ever":     `Not done: "ever" is no length of time such as "10m"`,
			"!chatguard exempt @anna -10m":     `Not done: "-10m" is no length of time such as "10m"`,
			"!chatguard set":                   "Not done: it is set burst 5, or set burst refill 4s",
			"!chatguard set bust 5":            `Not done: there is no limit "bust" here, only burst, daily`,
			"!chatguard set burst five":        `Not done: burst is a number, not "five"`,
			"!chatguard set burst refill five": `Not done: refill is a length of time such as "4s", not "five"`,
			"!chatguard set burst colour 5":    "Not done: a limit has burst, refill, messages, every and queue",
			"!chatguard raid":                  "Not done: it is raid on, raid on 10m, or raid off",
			"!chatguard raid on 25h":           "Not done: raid mode lasts from 1 s to 24 h, not 25h0m0s",
		} {
			d.command(text, want)
		}
		before := d.guard.Policy(channel)
		m := chatguard.Message{ChannelID: channel, Text: "!chatguard set burst 0", User: chatguard.User{Login: "berta"}}
		if said := d.Command(d.Context(), m); !strings.HasPrefix(said, `Not done: limit "burst"`) || d.guard.Policy(channel).Limits[0].Burst != before.Limits[0].Burst {
			t.Errorf("said %q", said)
		}
		if len(d.store.audits) != 0 {
			t.Errorf("in the audit: %q", d.store.audits)
		}
	})
}

func TestTroubleWithTheStore(t *testing.T) {
	inBubble(t, Raid{}, func(d *desk) {
		d.store.unsaved = true
		d.command("!chatguard pause", "Paused: I only watch until !chatguard resume. Not saved yet: the database is in trouble.")
		d.command("!chatguard set daily 5", "Set. Paused by berta: I only watch burst (1, one more every 1h0m0s), daily (5 a day). Not saved yet: the database is in trouble.")
		d.store.err = errors.New("disk I/O error at sector 7")
		d.command("!chatguard reset @anna", "Not done: it is done, but not noted in the audit: the database is in trouble")
		d.command("!chatguard pardon @anna", "Not done: the database is in trouble")
	})
}

// TestPardon: the timeout is lifted, the strike taken back, and doing it twice is doing it once.
func TestPardon(t *testing.T) {
	inBubble(t, Raid{}, func(d *desk) {
		d.passes("anna", true)
		v := d.say("anna")
		if v.Strikes != 1 {
			t.Fatalf("%+v", v)
		}
		d.command("!chatguard pardon @anna", "@anna is pardoned.")
		d.command("!chatguard pardon @anna", "@anna is pardoned.")
		e, err := d.guard.Explain(chatguard.Message{ChannelID: channel, User: chatguard.User{ID: "id of anna"}})
		if err != nil || e.Strikes != 0 || !e.SilentUntil.IsZero() {
			t.Errorf("%+v, %v", e, err)
		}
		if !slices.Equal(d.lifted, []string{"1 id of anna", "1 id of anna"}) || !slices.Equal(d.store.audits, []string{"1 pardon id of anna by berta"}) {
			t.Errorf("lifted %q, audit %q", d.lifted, d.store.audits)
		}
		if _, err := d.Pardon(d.Context(), 12345, "berta"); !errors.Is(err, ErrNoEntry) {
			t.Error(err)
		}
	})
}

// TestPardonLiftsOnlyWhatSilences: a deleted message, or a penalty that was never carried out, leaves nothing to lift; a waiting one is dropped.
func TestPardonLiftsOnlyWhatSilences(t *testing.T) {
	for name, test := range map[string]struct {
		outcome journal.Outcome
		waits   bool
		lifts   bool
	}{
		"timeout done":    {journal.Outcome{Action: chatguard.Timeout, Result: journal.Done}, false, true},
		"timeout unknown": {journal.Outcome{Action: chatguard.Timeout, Result: journal.Failed}, false, true},
		"ban pending":     {journal.Outcome{Action: chatguard.Ban, Result: journal.Pending}, false, true},
		"ban waiting":     {journal.Outcome{Action: chatguard.Ban, Result: journal.Pending}, true, false},
		"timeout skipped": {journal.Outcome{Action: chatguard.Timeout, Result: journal.Skipped}, false, false},
		"delete done":     {journal.Outcome{Action: chatguard.Delete, Result: journal.Done}, false, false},
	} {
		inBubble(t, Raid{}, func(d *desk) {
			d.Controls.options.Forgive = func(_, _ string, id chatguard.EntryID) bool { return test.waits && id == d.store.last }
			d.say("anna")
			d.say("anna")
			e := d.store.entries[d.store.last]
			e.Outcome = test.outcome
			d.store.entries[d.store.last] = e
			if _, err := d.Pardon(d.Context(), d.store.last, "berta"); err != nil || (len(d.lifted) == 1) != test.lifts {
				t.Errorf("%s: lifted %q, %v", name, d.lifted, err)
			}
		})
	}
}

// TestRaid: for a while everyone together has a limit, and newcomers have less; then all is as before.
func TestRaid(t *testing.T) {
	raid := Raid{
		Lasts:      5 * time.Minute,
		Everyone:   chatguard.Limit{Name: "raid", Algorithm: chatguard.TokenBucket, Per: chatguard.PerChannel, Burst: 3, Refill: time.Hour},
		FirstTimer: chatguard.Override{Burst: 1, Refill: time.Hour},
	}
	inBubble(t, raid, func(d *desk) {
		ctx, cancel := context.WithCancel(d.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.Controls.Run(ctx) }()
		defer func() { cancel(); <-ended }()
		d.command("!chatguard set burst 3", "Set. I enforce burst (3, one more every 1h0m0s), daily (300 a day).")
		d.command("!chatguard raid on", "Raid mode is on for 5 min.")
		d.passes("newcomer", true, chatguard.FirstTimer)
		d.passes("newcomer", false, chatguard.FirstTimer)
		d.passes("anna", true)
		d.passes("anna", true)
		d.passes("berta", false) // the three of everyone are used up
		d.command("!chatguard status", "I enforce burst (3, one more every 1h0m0s), daily (300 a day), raid (3, one more every 1h0m0s). Raid mode lasts 5 min more.")
		time.Sleep(5*time.Minute + time.Second)
		synctest.Wait()
		d.passes("newcomer", true, chatguard.FirstTimer)
		d.passes("berta", true)
		d.command("!chatguard raid on 1h", "Raid mode is on for 60 min.")
		d.command("!chatguard raid off", "Raid mode is off.")
		d.passes("carla", true, chatguard.FirstTimer)
		d.passes("carla", true, chatguard.FirstTimer)
		want := []string{"1 raid  by berta", "1 raid  by chatguard", "1 raid  by berta", "1 raid  by berta"}
		if !slices.Equal(d.store.audits, want) {
			t.Errorf("audit %q", d.store.audits)
		}
	})
}

// TestRaidBeatsEveryonesNumbers: an override for everyone doesn't make newcomers like the others.
func TestRaidBeatsEveryonesNumbers(t *testing.T) {
	inBubble(t, Raid{FirstTimer: chatguard.Override{Burst: 1}}, func(d *desk) {
		p := d.guard.Policy(channel)
		p.Limits[0].Roles = map[chatguard.Role]chatguard.Override{chatguard.Everyone: {Burst: 2}, chatguard.VIP: {Burst: 9}}
		if err := d.guard.SetPolicy(channel, p, time.Now()); err != nil {
			t.Fatal(err)
		}
		d.command("!chatguard raid on", "Raid mode is on for 10 min.")
		d.passes("newcomer", true, chatguard.FirstTimer)
		d.passes("newcomer", false, chatguard.FirstTimer)
		d.passes("anna", true)
		d.passes("anna", true)
		d.passes("anna", false)
		if got := d.guard.Policy(channel).Limits[0].Roles; !maps.Equal(got, p.Limits[0].Roles) {
			t.Errorf("the policy itself has changed: %v", got)
		}
	})
}

// TestSwitchesOutliveTheProcess: a pause and raid mode hold after a restart, as long as they would have held.
func TestSwitchesOutliveTheProcess(t *testing.T) {
	inBubble(t, Raid{}, func(d *desk) {
		d.command("!chatguard pause", "Paused: I only watch until !chatguard resume.")
		d.command("!chatguard raid on 1h", "Raid mode is on for 60 min.")
		until := d.Switches(channel).RaidUntil
		restart := func() {
			d.kept = map[string]map[string]string{channel: {}}
			for key, value := range d.store.settings {
				d.kept[channel][strings.TrimPrefix(key, channel+" ")] = value
			}
			if err := d.guard.SetOverlay(channel, nil, time.Now()); err != nil {
				t.Fatal(err)
			}
			d.start(Raid{})
		}
		restart()
		if got, want := d.Switches(channel), (Switches{PausedBy: "berta", RaidUntil: until}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		if d.guard.InForce(channel).Mode != chatguard.Observe {
			t.Error("the pause isn't in force")
		}
		time.Sleep(time.Hour)
		d.command("!chatguard resume", "Going on. I enforce burst (1, one more every 1h0m0s), daily (300 a day). Raid mode lasts 0 s more.")
		restart()
		if got := d.Switches(channel); got != (Switches{}) {
			t.Errorf("%+v", got)
		}
	})
}

// TestHeld: a channel where nobody may be acted on observes, and goes on by itself.
func TestHeld(t *testing.T) {
	inBubble(t, Raid{}, func(d *desk) {
		d.passes("anna", true)
		for _, reason := range []string{"type /mod bot", "type /mod bot", ""} {
			if err := d.Hold(channel, reason); err != nil {
				t.Fatal(err)
			}
			d.passes("anna", reason != "")
		}
		if len(d.store.audits) != 0 || len(d.store.settings) != 0 {
			t.Error("nobody has changed anything")
		}
	})
}

func TestQuota(t *testing.T) {
	inBubble(t, Raid{}, func(d *desk) {
		ask := func(want string, roles ...chatguard.Role) {
			t.Helper()
			m := chatguard.Message{ChannelID: channel, Text: "!quota", User: chatguard.User{ID: "id of anna", DisplayName: "Anna", Roles: chatguard.RolesOf(roles...)}}
			if got := d.Command(d.Context(), m); got != want {
				t.Errorf("%q\nwant %q", got, want)
			}
		}
		ask("@Anna: messages left: burst 1 of 1; daily 300 of 300.")
		d.say("anna")
		time.Sleep(12 * time.Minute)
		ask("@Anna: messages left: burst 0 of 1, next in 48 min; daily 299 of 300, resets in 23 h 48 min.")
		ask("@Anna: you have no limits here.", chatguard.VIP, chatguard.Moderator)
	})
}
