package chatguard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// plainVerdict is the form for encoding/json without custom code.
type plainVerdict struct {
	At           time.Time  `json:"at"`
	Channel      string     `json:"channel"`
	UserID       string     `json:"user_id"`
	Allowed      bool       `json:"allowed"`
	Limit        string     `json:"limit"`
	Remaining    *int       `json:"remaining"`
	RetryAfterMS *int64     `json:"retry_after_ms"`
	DelayMS      int64      `json:"delay_ms"`
	ResetAt      *time.Time `json:"reset_at"`
	Never        bool       `json:"never"`
	Observed     bool       `json:"observed"`
	Penalty      Penalty    `json:"penalty"`
	WouldBe      *Penalty   `json:"would_be,omitempty"`
	Tightest     *string    `json:"tightest,omitempty"`
	Exempt       bool       `json:"exempt,omitempty"`
	Degraded     bool       `json:"degraded,omitempty"`
	Entry        EntryID    `json:"entry,omitempty"`
	Strikes      int        `json:"strikes,omitempty"`
	NewStrike    bool       `json:"new_strike,omitempty"`
	Spent        int        `json:"spent,omitempty"`
	LateNS       int64      `json:"late_ns,omitempty"`
	Counted      int        `json:"counted,omitempty"`
	Series       uint8      `json:"series,omitempty"`
}

func TestVerdict_JSONMatchesEncodingJSON(t *testing.T) {
	berlin := time.FixedZone("", 3600)
	at := time.Date(2026, 1, 5, 20, 0, 0, 120_000_000, berlin)
	timeout := Penalty{Action: ActionTimeout, Duration: 10 * time.Minute}
	n := func(n int64) *int64 { return &n }
	left := func(n int) *int { return &n }
	text := func(s string) *string { return &s }
	utc, later := at.UTC(), at.Add(12*time.Second).UTC()
	for _, test := range []struct {
		v    Verdict
		want plainVerdict
	}{
		{Verdict{At: at, ChannelID: "1", UserID: "7", Allowed: true, Tightest: "burst", Remaining: 2, ResetAt: later.In(berlin), Spent: 1},
			plainVerdict{At: utc, Channel: "1", UserID: "7", Allowed: true, Remaining: left(2), RetryAfterMS: n(0), ResetAt: &later, Tightest: text("burst"), Spent: 1}},
		{Verdict{At: at, ChannelID: "1", UserID: "7", Limit: "burst", Tightest: "burst", RetryAfter: 3*time.Second + 1, ResetAt: later, EntryID: 99, Penalty: timeout, Strikes: 2, NewStrike: true, Late: 1500, Counted: 1, Series: 9},
			plainVerdict{At: utc, Channel: "1", UserID: "7", Limit: "burst", Remaining: left(0), RetryAfterMS: n(3001), ResetAt: &later, Entry: 99, Penalty: timeout, Strikes: 2, NewStrike: true, LateNS: 1500, Counted: 1, Series: 9}},
		{Verdict{At: at, Allowed: true, Observed: true, WouldBe: timeout, Limit: "burst", Tightest: "burst", Delay: 1500 * time.Microsecond, ResetAt: later, Degraded: true},
			plainVerdict{At: utc, Allowed: true, Observed: true, WouldBe: &timeout, Limit: "burst", Remaining: left(0), RetryAfterMS: n(0), DelayMS: 2, ResetAt: &later, Degraded: true}},
		{Verdict{At: at, Never: true, Limit: "x", Tightest: "x", ResetAt: later}, plainVerdict{At: utc, Never: true, Limit: "x", Remaining: left(0), ResetAt: &later}},
		{Verdict{At: at, Allowed: true, Exempt: true, Remaining: -1}, plainVerdict{At: utc, Allowed: true, Exempt: true, RetryAfterMS: n(0)}},
		{Verdict{At: at, ChannelID: "a\"b\\c<d>&\u2028\x00", UserID: "é\xff\n"}, plainVerdict{At: utc, Channel: "a\"b\\c<d>&\u2028\x00", UserID: "é\xff\n", RetryAfterMS: n(0)}},
	} {
		want, err := json.Marshal(test.want)
		must(t, err)
		if got := test.v.AppendJSON([]byte("x")); string(got) != "x"+string(want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got, err := json.Marshal(test.v); err != nil || string(got) != string(want) {
			t.Errorf("json.Marshal: %s, %v\nwant %s", got, err, want)
		}
	}
}

// TestVerdict_JSONComesBack checks that the JSON of a verdict gives the verdict back.
func TestVerdict_JSONComesBack(t *testing.T) {
	for name, change := range map[string]func(*Policy){
		"enforcing": nil,
		"observing": func(p *Policy) { p.Mode = ModeObserve },
		"a queue":   func(p *Policy) { p.Limits = append(p.Limits, LeakyBucketLimit("pace", time.Second, 5)) },
		"counted":   func(p *Policy) { p.Limits = append(p.Limits, countingLimit("own", PerUser, 9)) },
		"no limits": func(p *Policy) { p.Limits = nil },
		"a text":    func(p *Policy) { p.Limits = append(p.Limits, repeats("again", PerUserText)) },
	} {
		g := newEnforcingGuard(t, change, nil)
		g.State().SetDegraded(name == "counted")
		for i, m := range []Message{
			messageFrom("7", 2), messageFrom("7", 1), messageFrom("7", 2), messageFrom("7", 2), messageFrom("7", 0.0015),
			messageFrom("7", 2, RoleModerator), {ChannelID: "1", User: User{ID: "8"}, SentAt: monday, Cost: 9},
		} {
			m.Text = pasted
			v := mustCheck(t, g, m)
			data, err := json.Marshal(v)
			must(t, err)
			var back Verdict
			must(t, json.Unmarshal(data, &back))
			v.RetryAfter = (v.RetryAfter + time.Millisecond - 1).Truncate(time.Millisecond)
			v.At, v.ResetAt, v.atNow = v.At.UTC(), v.ResetAt.UTC(), true
			if !back.At.Equal(v.At) || !back.ResetAt.Equal(v.ResetAt) {
				t.Errorf("%s, message %d: times %s and %s, want %s and %s", name, i, back.At, back.ResetAt, v.At, v.ResetAt)
			}
			if back.At, back.ResetAt = v.At, v.ResetAt; !sameVerdict(back, v) {
				t.Errorf("%s, message %d: got %#v\nwant %#v", name, i, back, v)
			}
		}
	}
}

func TestVerdict_JSONRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"user_id":"7","allowed":true}`:                                   "channel is missing",
		`{"channel":"1","allowed":true}`:                                   "user_id is missing",
		`{"channel":"1","user_id":"7"}`:                                    "allowed is missing",
		`{"channel":"1","user_id":"7","allowed":null}`:                     "allowed is missing",
		`{"channel":"1","user_id":"7","allowed":false,"penalty":"X"}`:      `penalty "X": want delete`,
		`{"channel":"1","user_id":"7","allowed":true,"text_print":"AAAA"}`: "isn't the print of a text",
		`[]`: "cannot unmarshal",
	} {
		v := Verdict{Limit: "before"}
		if err := json.Unmarshal([]byte(text), &v); err == nil || !strings.Contains(err.Error(), want) || v.Limit != "before" {
			t.Errorf("%s: %v, %s; want %q and the verdict unchanged", text, err, v, want)
		}
	}
	var v Verdict
	if err := json.Unmarshal([]byte(`{"channel":"1","user_id":"7","allowed":true,"later":1}`), &v); err != nil || !v.Allowed {
		t.Errorf("an unknown field: %v", err)
	}
}

func TestVerdict_String(t *testing.T) {
	for want, v := range map[string]Verdict{
		"allowed, 2 left of burst":                     {Allowed: true, Tightest: "burst", Remaining: 2},
		"allowed":                                      {Allowed: true, Remaining: -1},
		"not judged":                                   {},
		"allowed, degraded":                            {Allowed: true, Degraded: true, Remaining: -1},
		"allowed, exempt":                              {Allowed: true, Exempt: true},
		"throttled by burst, retry after 4s":           {Limit: "burst", RetryAfter: 4 * time.Second},
		"throttled by burst, waiting never helps":      {Limit: "burst", Never: true},
		"allowed, observed by burst, retry after 1m0s": {Allowed: true, Observed: true, Limit: "burst", RetryAfter: time.Minute},
	} {
		if got := fmt.Sprint(v); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestLogValue checks that values print as groups of what matters.
func TestLogValue(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey) {
			return slog.Attr{}
		}
		return a
	}}))
	user := User{ID: "7", Login: "anna", Roles: Roles{vip, subscriber}}
	logger.Info("a", "v", Verdict{ChannelID: "1", UserID: "7", Limit: "burst", RetryAfter: time.Second, Penalty: Penalty{Action: ActionDrop}}, "user", user)
	logger.Info("b", "v", Verdict{ChannelID: "1", UserID: "7", Allowed: true, Observed: true, Limit: "x", WouldBe: Penalty{Action: warn}})
	logger.Info("c", "v", Verdict{ChannelID: "1", UserID: "7", Allowed: true}, "user", User{ID: "8"})
	want := `msg=a v.channel=1 v.user=7 v.allowed=false v.limit=burst v.retry_after=1s v.penalty=drop user.id=7 user.login=anna user.roles="vip, subscriber"
msg=b v.channel=1 v.user=7 v.allowed=true v.observed=true v.limit=x v.retry_after=0s v.penalty=warn
msg=c v.channel=1 v.user=7 v.allowed=true user.id=8
`
	if log.String() != want {
		t.Errorf("got  %s\nwant %s", &log, want)
	}
	for got, want := range map[string]string{
		user.String(): "anna (7)", User{ID: "8"}.String(): "8", user.Roles.String(): "vip, subscriber", Roles(nil).String(): "everyone",
		user.Name(): "anna", Verdict{ChannelID: "1", UserID: "7"}.Key().String(): `user "7" in channel "1"`,
		Key{UserID: "7", Per: PerUserEverywhere}.String(): `user "7" in all channels`, Key{ChannelID: "1", Per: PerChannel}.String(): `channel "1"`,
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func newCascade() Limit { return CascadeLimit("burst", 3, 4*time.Second, 2, 20*time.Second) }

// newRoom is a limit of a room that keeps a reserve.
func newRoom() Limit {
	room := TokenBucketLimit("room", 10, time.Second)
	room.Per, room.Reserve = PerChannel, 4
	return room
}

func newGuardWithLimits(t testing.TB, limits ...Limit) *Guard {
	t.Helper()
	return newEnforcingGuard(t, func(p *Policy) { p.Limits = limits }, nil)
}

func TestVerdict_Low(t *testing.T) {
	g := newGuardWithLimits(t, newCascade(), newRoom())
	for range 3 {
		if v := mustCheck(t, g, messageFrom("anna", 0)); v.Priority != "" || strings.Contains(string(v.AppendJSON(nil)), "priority") {
			t.Fatalf("%+v", v)
		}
	}
	v := mustCheck(t, g, messageFrom("anna", 0))
	if got, want := v.String(), "allowed at low priority, 1 left of burst"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := v.LogValue().String(); !strings.Contains(got, "priority=low") {
		t.Errorf("a log has %s", got)
	}
	text := string(v.AppendJSON(nil))
	var read Verdict
	if err := json.Unmarshal([]byte(text), &read); err != nil || read.Priority != PriorityLow || !strings.Contains(text, `"priority":"low"`) {
		t.Errorf("%s, read as %+v, %v", text, read, err)
	}
	for range 3 {
		mustCheck(t, g, messageFrom("berta", 0))
	}
	if v := mustCheck(t, g, messageFrom("berta", 0)); v.Priority != PriorityLow || v.Limit != "room" || v.Remaining != 3 || v.Strikes != 0 {
		t.Errorf("a low message that the room keeps its reserve from: %+v", v)
	}
}

// quotas returns the quotas of the verdict's user as text.
func quotas(g *Guard, v Verdict) string { return inner{g}.Quotas(&v).Text }

func TestCascade_Quota(t *testing.T) {
	g := newGuardWithLimits(t, newCascade())
	v := mustCheck(t, g, messageFrom("7", 0))
	if got, want := quotas(g, v), `"burst";q=5;w=40`; got != want || v.Remaining != 4 || !v.ResetAt.Equal(monday.Add(4*time.Second)) {
		t.Errorf("quota %s, want %s; verdict %+v", got, want, v)
	}
	must(t, g.SetUserOverride(t.Context(), Key{ChannelID: "1", UserID: "7"}, UserOverride{Limits: map[string]Override{"burst": {ExtraBurst: 6, ExtraRefill: 10 * time.Second}}}))
	if got, want := quotas(g, v), `"burst";q=9;w=60`; got != want {
		t.Errorf("quota %s, want %s", got, want)
	}
}

// TestCascade_Refund gives back messages of both priorities. The second bucket gets back first what
// is missing from it.
func TestCascade_Refund(t *testing.T) {
	g := newGuardWithLimits(t, newCascade())
	var verdicts []Verdict
	for range 5 {
		verdicts = append(verdicts, mustCheck(t, g, messageFrom("7", 0)))
	}
	at := g.at(monday)
	for i, want := range []Priority{PriorityLow, PriorityLow, ""} {
		must(t, at.Refund(t.Context(), verdicts[4-i]))
		if v, err := g.Peek(t.Context(), messageFrom("7", 0)); err != nil || !v.Allowed || v.Priority != want {
			t.Errorf("after %d refunds: %+v, %v", i+1, v, err)
		}
	}
}

// TestCascade_Pardon gives back what a throttled message has counted in the bucket that would have
// paid it.
func TestCascade_Pardon(t *testing.T) {
	counting := newCascade()
	counting.CountThrottled = true
	for sent, want := range map[int]Priority{0: "", 3: PriorityLow} {
		g := newGuardWithLimits(t, counting, FixedWindowLimit("minute", sent+1, time.Minute))
		for range sent + 1 {
			mustCheck(t, g, messageFrom("8", 0))
		}
		for range sent {
			mustCheck(t, g, messageFrom("7", 0))
		}
		big := messageFrom("7", 0)
		big.Cost = 2
		v := mustCheck(t, g, big)
		if v.Allowed || v.Priority != want || v.Counted != 2 {
			t.Fatalf("after %d messages: %+v", sent, v)
		}
		before := explain(t, g, messageFrom("7", 0)).limits[0].Picture
		if done, err := g.at(monday).Pardon(t.Context(), v); !done || err != nil {
			t.Fatal(done, err)
		}
		after := explain(t, g, messageFrom("7", 0)).limits[0].Picture
		more := [2]float64{after.Tokens - before.Tokens, after.ExtraTokens - before.ExtraTokens}
		if (want == "" && more != [2]float64{2, 0}) || (want == PriorityLow && more != [2]float64{0, 2}) {
			t.Errorf("after %d messages, a pardon gives back %v", sent, more)
		}
	}
}

// TestReserve_Invalid checks the errors of a limit that can't keep its reserve.
func TestReserve_Invalid(t *testing.T) {
	room, reserving, whole := newRoom(), newCascade(), newRoom()
	room.Roles = map[Role]Override{vip: {Burst: 4}}
	reserving.Reserve, whole.Reserve = 1, 10
	for want, limit := range map[string]Limit{
		`chatguard: limit "room": for role "vip": reserve is 4, want 0 to 3, less than the limit holds`: room,
		`chatguard: limit "room": reserve is 10, want 0 to 9, less than the limit holds`:                whole,
		`chatguard: limit "burst": cascade has no "reserve": set it on the other limits`:                reserving,
	} {
		if err := (Policy{Limits: []Limit{limit}}).Validate(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// explained is what Explain returns.
type explained struct {
	Verdict // its Strikes are 0 unless a limit throttles the message
	strikes int
	limits  []limits.Level
}

// explain explains a message. It fails the test if the message can't be judged.
func explain(t *testing.T, g *Guard, m Message) (e explained) {
	t.Helper()
	v, levels, s, _, err := inner{g}.Explain(t.Context(), m)
	must(t, err)
	return explained{v, s.Strikes, levels}
}

// sameVerdict reports whether two verdicts are equal, also if other Guards know the same roles.
func sameVerdict(a, b Verdict) bool {
	same := slices.Equal(slices.Collect(a.roles.All), slices.Collect(b.roles.All))
	a.roles = b.roles
	return same && a == b
}

// TestPeek_AgreesWithCheck checks that Peek and Explain return the verdict that Check returns then,
// with limits of all scopes, roles, overrides and messages that are late.
func TestPeek_AgreesWithCheck(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) {
		p.Limits = append(p.Limits, perChannelLimit(30), everywhereLimit(60), overallLimit(210))
		p.Limits[0].Reserve, p.Limits[1].Messages, p.Limits[2].Refill = 1, 60, 30*time.Second
		p.ExemptKinds = []string{"bits"}
		p.Penalties.Ladder = []Penalty{{Action: ActionDelete}, {Action: ActionTimeout, UntilRefill: true}, {Action: ActionTimeout, Duration: time.Minute}}
	}, nil)
	must(t, g.at(monday).SetUserOverride(t.Context(), Key{ChannelID: "1", UserID: "0"}, UserOverride{Exempt: ExemptNever, ExemptUntil: monday.Add(time.Hour)}))
	must(t, g.at(monday).SetUserOverride(t.Context(), Key{ChannelID: "1", UserID: "1"}, UserOverride{Limits: map[string]Override{"burst": {Burst: 5}}}))
	random, seconds, outcomes := rand.New(rand.NewPCG(1, 2)), 0.0, map[Verdict]bool{}
	for i := range 3000 {
		seconds += random.ExpFloat64() * 5
		m := messageFrom(strconv.Itoa(random.IntN(5)), seconds-float64(random.IntN(3)), []Role{firstTimer, RoleEveryone, subscriber, vip, RoleModerator}[random.IntN(5)])
		m.ChannelID, m.Kinds, m.Cost = strconv.Itoa(random.IntN(3)), []string{"bits"}[:random.IntN(8)/7], random.IntN(4)
		explained := explain(t, g, m)
		peeked, err := g.Peek(t.Context(), m)
		must(t, err)
		v := mustCheck(t, g, m)
		outcomes[Verdict{Allowed: v.Allowed, Limit: v.Limit, Exempt: v.Exempt}] = true
		v.EntryID = 0
		if peeked != v || explained.Verdict != v {
			t.Fatalf("message %d: peeked %+v, explained %+v, then came %+v", i, peeked, explained.Verdict, v)
		}
	}
	if len(outcomes) != 7 { // allowed, exempt, and throttled by each limit
		t.Errorf("outcomes %v", outcomes)
	}
}

// TestIsExempt checks that IsExempt agrees with Peek, for roles, kinds of messages, overrides and a
// channel's own policy.
func TestIsExempt(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) { p.ExemptKinds = []string{"bits"} }, nil)
	own := g.Policy()
	own.Exempt, own.ExemptKinds = []Role{vip}, []string{"reward"}
	must(t, g.at(monday).SetChannelPolicy("2", own))
	for user, o := range map[string]UserOverride{
		"always":  {Exempt: ExemptAlways},
		"never":   {Exempt: ExemptNever},
		"numbers": {Limits: map[string]Override{"burst": {Burst: 5}}},
		"ended":   {Exempt: ExemptAlways, ExemptUntil: monday.Add(time.Second)},
	} {
		must(t, g.at(monday).SetUserOverride(t.Context(), Key{ChannelID: "1", UserID: user}, o))
	}
	exempt := 0
	for _, user := range []string{"none", "always", "never", "numbers", "ended"} {
		for _, channel := range []string{"1", "2", "3"} {
			for _, roles := range []Roles{nil, {RoleModerator}} {
				for _, kind := range []string{"", "bits", "reward"} {
					for seconds := range 2 {
						m := messageFrom(user, float64(seconds))
						m.ChannelID, m.User.Roles, m.Kinds = channel, roles, []string{kind}
						v, err := g.Peek(t.Context(), m)
						must(t, err)
						if got := (inner{g}).IsExempt(m); got != v.Exempt {
							t.Errorf("%+v is exempt: %t, want %t", m, got, v.Exempt)
						} else if got {
							exempt++
						}
					}
				}
			}
		}
	}
	if exempt != 90 || g.Memory().Users != 4 || (inner{g}).IsExempt(Message{ChannelID: "1", User: User{Roles: Roles{RoleModerator}}}) {
		t.Errorf("%d are exempt, %d users are remembered", exempt, g.Memory().Users)
	}
}
