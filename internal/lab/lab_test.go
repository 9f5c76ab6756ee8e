package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
)

// must fails the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// question reads a question's JSON.
func question(t *testing.T, text string) Question {
	t.Helper()
	var q Question
	if err := json.Unmarshal([]byte(text), &q); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return q
}

// run answers a question.
func run(t *testing.T, text string) *Answer {
	t.Helper()
	answer, err := Run(t.Context(), question(t, text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return answer
}

// TestRun_RepeatedText checks that a lane knows the texts of messages by their prints, also when
// they come back as JSON, and that the answer says how many messages have none.
func TestRun_RepeatedText(t *testing.T) {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	const first = 1_767_225_600_000
	var said []Message
	for i, text := range []string{"", "the same again", "", "something else", "The same again", "the same again"} {
		said = append(said, Message{At: Moment((first + int64(i)) * 1e6), UserID: fmt.Sprint(i), Print: guard.TextPrint(text)})
	}
	data, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	const lane = `{"limits": [{"name": "copies", "per": "text", "algorithm": "token-bucket", "burst": 2, "refill": "1m"}]}`
	for name, test := range map[string]struct{ lane, messages, want string }{
		"texts":    {lane, string(data), `"without_text":2}`},
		"none":     {lane, `[{"at": 1, "user_id": "a"}, {"at": 2, "user_id": "b"}]`, `"without_text":2}`},
		"no limit": {`{"limits": [{"algorithm": "token-bucket", "burst": 9, "refill": "4s"}]}`, string(data), `]}`},
	} {
		var q Question
		if err := json.Unmarshal([]byte(`{"lanes": [`+test.lane+`], "messages": `+test.messages+`}`), &q); err != nil {
			t.Fatal(err)
		}
		answer, err := Run(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		text, err := answer.AppendJSON(nil)
		if err != nil || !strings.HasSuffix(string(text), test.want) {
			t.Errorf("%s: the answer is %s, %v, want the end %s", name, text, err, test.want)
		}
		for i, step := range answer.Lanes[0].Steps {
			if step.Allowed != (name != "texts" || i != 5) {
				t.Errorf("%s: message %d: %+v", name, i, step)
			}
		}
	}
}

// TestRun_Emotes checks that messages of emotes only count if a limit on repeated text counts them,
// also when they come back as JSON, and that their texts are known.
func TestRun_Emotes(t *testing.T) {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	emotes := Message{At: 1_767_225_600_000_000_000, UserID: "1", Print: guard.TextPrint("Kappa Kappa Kappa"), Emotes: true}
	data, err := json.Marshal([]Message{emotes, emotes})
	if err != nil {
		t.Fatal(err)
	}
	for counts, allowed := range map[bool]string{false: "true true", true: "true false"} {
		answer := run(t, fmt.Sprintf(`{"lanes": [{"limits": [{"name": "copies", "per": "text", "algorithm": "token-bucket", "burst": 1, "refill": "1m", "count_emotes": %v}]}], "messages": %s}`,
			counts, data))
		steps := answer.Lanes[0].Steps
		if got := fmt.Sprint(steps[0].Allowed, steps[1].Allowed); got != allowed || answer.WithoutText != 0 {
			t.Errorf("count_emotes = %v: %s, %d without a text; want %s", counts, got, answer.WithoutText, allowed)
		}
	}
}

// TestRun_Pictures checks the steps of each algorithm, with the states that its drawing needs.
func TestRun_Pictures(t *testing.T) {
	for _, test := range []struct {
		limit string
		sent  []int64 // milliseconds after the start
		want  []string
	}{
		{`"token-bucket", "burst": 2, "refill": "4s"`, []int64{0, 1000, 1000}, []string{
			`true 0 0 1 1767225604000 {"tokens":1}`, `true 0 0 0 1767225608000 {"tokens":0.25}`, `false 3000 0 0 1767225608000 {"tokens":0.25}`}},
		{`"leaky-bucket", "every": "4s", "queue": 2`, []int64{0, 0, 0, 0}, []string{
			`true 0 0 2 1767225604000 {"waiting":0,"leaves":[]}`, `true 0 4000 1 1767225608000 {"waiting":1,"leaves":[1767225604000]}`,
			`true 0 8000 0 1767225612000 {"waiting":2,"leaves":[1767225604000,1767225608000]}`,
			`false 4000 0 0 1767225612000 {"waiting":2,"leaves":[1767225604000,1767225608000]}`}},
		{`"fixed-window", "messages": 1, "every": "60s"`, []int64{1000, 2000}, []string{
			`true 0 0 0 1767225660000 {"from":1767225600000,"until":1767225660000,"count":1}`,
			`false 58000 0 0 1767225660000 {"from":1767225600000,"until":1767225660000,"count":1}`}},
		{`"user-window", "messages": 1, "every": "60s"`, []int64{1000}, []string{`true 0 0 0 1767225661000 {"from":1767225601000,"until":1767225661000,"count":1}`}},
		{`"daily-window", "messages": 2, "timezone": "Europe/Berlin"`, []int64{0}, []string{`true 0 0 1 1767308400000 {"from":1767222000000,"until":1767308400000,"count":1}`}},
		{`"sliding-window", "messages": 3, "every": "10s"`, []int64{0, 0, 12500}, []string{
			`true 0 0 2 1767225620000 {"from":1767225600000,"until":1767225610000,"previous":0,"current":1,"weight":1,"estimate":1}`,
			`true 0 0 1 1767225620000 {"from":1767225600000,"until":1767225610000,"previous":0,"current":2,"weight":1,"estimate":2}`,
			`true 0 0 0 1767225630000 {"from":1767225610000,"until":1767225620000,"previous":2,"current":1,"weight":0.75,"estimate":2.5}`}},
		{`"sliding-log", "messages": 2, "every": "10s"`, []int64{0, 500}, []string{
			`true 0 0 1 1767225610000 {"times":1,"oldest":1767225600000}`, `true 0 0 0 1767225610500 {"times":2,"oldest":1767225600000}`}},
	} {
		var messages []string
		for _, ms := range test.sent {
			messages = append(messages, fmt.Sprintf(`{"at": %d, "user_id": "anna"}`, 1767225600000+ms))
		}
		answer := run(t, `{"lanes": [{"limits": [{"algorithm": `+test.limit+`}]}], "messages": [`+strings.Join(messages, ",")+`]}`)
		for i, s := range answer.Lanes[0].Steps {
			got := fmt.Sprintf("%v %d %d %d %d %s", s.Allowed, s.RetryAfter.Milliseconds(), s.Delay.Milliseconds(), s.Remaining, s.ResetAt.UnixMilli(), s.Picture)
			if got != test.want[i] {
				t.Errorf("%s: message %d:\n%s, want\n%s", test.limit, i+1, got, test.want[i])
			}
		}
	}
}

func TestRun_SeveralLimits(t *testing.T) {
	answer := run(t, `{"lanes": [{"name": "both", "roles": ["vip"], "limits": [
		{"name": "burst", "algorithm": "token-bucket", "burst": 3, "refill": "4s", "roles": {"vip": {"burst": 1}}},
		{"name": "room", "algorithm": "sliding-log", "messages": 1, "every": "10s", "per": "channel"}]},
		{"limits": []}],
		"messages": [{"at": 0, "user_id": "a"}, {"at": 1, "user_id": "a"}, {"at": 2, "user_id": "b"}]}`)
	lane := answer.Lanes[0]
	if got := fmt.Sprintf("%s: %v %v %v", lane.Name, lane.Steps[0].Allowed, lane.Steps[1].Limit, lane.Steps[2].Limit); got != "both: true room room" {
		t.Error(got)
	}
	if got := string(lane.Steps[1].Pictures); got != `[{"tokens":0.00025},{"times":1,"oldest":0}]` || lane.Steps[1].Picture != nil {
		t.Errorf("pictures %s", got)
	}
	if free := answer.Lanes[1]; free.Name != "no limits" || free.Figures.Allowed != 3 || string(free.Steps[0].AppendJSON(nil)) !=
		`{"allowed":true,"limit":"","retry_after_ms":0,"delay_ms":0,"remaining":null,"reset_at":null}` {
		t.Errorf("without limits: %s", free.Steps[0].AppendJSON(nil))
	}
}

// The first bucket pays three, the second two at low priority.
func TestRun_Cascade(t *testing.T) {
	answer := run(t, `{"lanes": [{"limits": [{"algorithm": "cascade", "burst": 3, "refill": "4s", "extra_burst": 2, "extra_refill": "20s"}]}],
		"edge": "1m", "traffic": {"kind": "bursts", "size": 6, "every": "20s", "for": "40s"}}`)
	lane := answer.Lanes[0]
	var got []string
	for _, s := range lane.Steps {
		got = append(got, fmt.Sprintf("%v %v %v %s", s.Allowed, s.Low, s.RetryAfter, s.Picture))
	}
	want := []string{
		`true false 0s {"tokens":2,"extra_tokens":2}`, `true false 0s {"tokens":1,"extra_tokens":2}`, `true false 0s {"tokens":0,"extra_tokens":2}`,
		`true true 0s {"tokens":0,"extra_tokens":1}`, `true true 0s {"tokens":0,"extra_tokens":0}`, `false false 4s {"tokens":0,"extra_tokens":0}`,
		`true false 0s {"tokens":2,"extra_tokens":1}`, `true false 0s {"tokens":1,"extra_tokens":1}`, `true false 0s {"tokens":0,"extra_tokens":1}`,
		`true true 0s {"tokens":0,"extra_tokens":0}`, `false false 4s {"tokens":0,"extra_tokens":0}`, `false false 4s {"tokens":0,"extra_tokens":0}`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if f := lane.Figures; f.Low != 3 || f.Allowed != 9 || *lane.Edge != 17+4 {
		t.Errorf("%+v, edge %d", f, *lane.Edge)
	}
	if text := string(lane.Steps[3].AppendJSON(nil)); !strings.HasPrefix(text, `{"allowed":true,"limit":"","priority":"low","retry_after_ms":0,`) {
		t.Error(text)
	}
}

// Without limits, a spammer has two thirds of a chat with twenty people. With a token bucket, it has
// a fifth.
func TestRun_Chat(t *testing.T) {
	answer := run(t, `{"lanes": [{"limits": []}, {"limits": [{"algorithm": "token-bucket", "burst": 3, "refill": "4s"}]}],
		"traffic": {"kind": "chat", "people": 20, "every": "20s", "spam_every": "500ms", "for": "5m"}}`)
	if n := len(answer.Messages); n != 900 || answer.Messages[0].At != momentOf(start) {
		t.Errorf("%d messages, the first at %s", n, answer.Messages[0].At.Time())
	}
	for i, want := range []Share{{"spammer", 600, 66.67}, {"spammer", 77, 20.42}} {
		got := *answer.Lanes[i].Figures.Loudest
		got.Percent = math.Round(got.Percent*100) / 100
		if got != want {
			t.Errorf("lane %d: %+v, want %+v", i+1, got, want)
		}
	}
	if f := answer.Lanes[1].Figures; f.Allowed != 377 || f.Throttled != 523 || f.MeanPerMinute != 75.4 || f.LongestWaitMS != 3500 || f.LongestSilentMS != 1000 {
		t.Errorf("figures %+v", f)
	}
}

func TestRun_Traffic(t *testing.T) {
	for _, test := range []struct {
		traffic string
		want    []int64 // milliseconds after the start
		users   string
	}{
		{`"steady", "every": "20s", "for": "1m"`, []int64{0, 20000, 40000}, "anna anna anna"},
		{`"bursts", "size": 2, "every": "500ms", "for": "600ms"`, []int64{0, 0, 500, 500}, "anna anna anna anna"},
		{`"chat", "people": 2, "every": "3s", "for": "4s"`, []int64{0, 1500, 3000}, "person-1 person-2 person-1"},
		{`"poisson", "per_minute": 2, "users": 2, "for": "1m", "from": "2026-01-01T00:00:00Z"`, []int64{2689, 4778, 19900}, "user-2 user-2 user-1"},
	} {
		text := `{"lanes": [{"limits": []}], "traffic": {"kind": ` + test.traffic + `}}`
		var at []int64
		var users []string
		for _, m := range run(t, text).Messages {
			at, users = append(at, int64(m.At-momentOf(start))/1e6), append(users, m.UserID)
		}
		if !reflect.DeepEqual(at, test.want) || strings.Join(users, " ") != test.users {
			t.Errorf("%s: at %d of %q, want %d of %q", test.traffic, at, users, test.want, test.users)
		}
	}
}

// Messages that wait in a queue count when they leave.
func TestRun_Figures(t *testing.T) {
	answer := run(t, `{"lanes": [{"limits": [{"algorithm": "leaky-bucket", "every": "2s", "queue": 2}]}],
		"traffic": {"kind": "bursts", "size": 4, "every": "30s", "for": "1m"}}`)
	want := Figures{
		Allowed: 6, Throttled: 2, Delayed: 4, MeanPerMinute: 6, MostInASecond: 1, MostInAMinute: 6,
		LongestWaitMS: 2000, LongestDelayMS: 4000, LongestSilentMS: 26000,
	}
	got := *answer.Lanes[0].Figures
	got.Loudest = nil
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A lane that has been silent since its last message is silent until the traffic ends. Without
// traffic, that is the last message.
func TestRun_SilentUntilNow(t *testing.T) {
	const lane = `{"lanes": [{"limits": [{"algorithm": "daily-window", "messages": 2}]}], `
	for _, test := range []struct {
		name, text string
		want       int64
	}{
		{"traffic", lane + `"traffic": {"kind": "steady", "every": "1s", "for": "10m"}}`, 599_000},
		{"traffic that begins later", lane + `"traffic": {"kind": "steady", "every": "7s", "from": "2026-01-02T12:00:00Z", "for": "1m"}}`, 53_000},
		{"messages", lane + `"messages": [{"at": 1000, "user_id": "a"}, {"at": 9000, "user_id": "a"}, {"at": 30000, "user_id": "a"}]}`, 21_000},
		{"nothing passed", `{"lanes": [{"limits": [{"algorithm": "token-bucket", "burst": 1, "refill": "4s"}]}], "messages": [{"at": 1, "user_id": "anna", "cost": 2}, {"at": 99, "user_id": "anna", "cost": 2}]}`, 0},
		{"still in the queue", `{"lanes": [{"limits": [{"algorithm": "leaky-bucket", "every": "10s", "queue": 1}]}], "traffic": {"kind": "bursts", "size": 2, "every": "1h", "for": "5s"}}`, 10_000},
	} {
		if got := run(t, test.text).Lanes[0].Figures.LongestSilentMS; got != test.want {
			t.Errorf("%s: %d ms, want %d", test.name, got, test.want)
		}
	}
}

func TestRun_Eager(t *testing.T) {
	answer := run(t, `{"lanes": [{"limits": [{"algorithm": "token-bucket", "burst": 3, "refill": "4s"}]}], "edge": "1m",
		"traffic": {"kind": "eager", "messages": 5, "start": "0s", "pauses": ["2s+5s"], "turn": "10ms/3s"}}`)
	lane := answer.Lanes[0]
	// at 0 three, after the pause at 9 s two
	if want := []int{3, 0, 0, 0, 0, 0, 0, 0, 0, 2}; !reflect.DeepEqual(lane.Push.PerSecond, want) || lane.Push.LastAt != 9e9 || *lane.Edge != 17 || lane.Steps != nil {
		t.Errorf("%+v, edge %d", lane.Push, *lane.Edge)
	}
}

func TestRun_Accuracy(t *testing.T) {
	const traffic = `"accuracy": true, "traffic": {"kind": "poisson", "per_minute": 50, "seed": 1, "for": "60m"}}`
	a := run(t, `{"lanes": [{"limits": [{"algorithm": "sliding-window", "messages": 50, "every": "60s"}]}], `+traffic).Accuracy
	if a.Messages < 2500 || a.Counted.WrongPercent < 5 {
		t.Errorf("%+v", a)
	}
	_, err := Run(t.Context(), question(t, `{"lanes": [{"limits": []}], `+traffic))
	if err == nil || err.Error() != "lane 1: accuracy needs a lane with one sliding-window" {
		t.Errorf("error %v", err)
	}
}

// Equal questions have equal answers, and AppendJSON writes what json.Marshal does.
func TestAnswer_AppendJSON(t *testing.T) {
	const text = `{"lanes": [{"limits": [{"algorithm": "token-bucket", "burst": 3, "refill": "4s"}, {"algorithm": "token-bucket", "burst": 9, "refill": "9s"}]}, {"limits": []}],
		"accuracy": false, "edge": "60s", "traffic": {"kind": "poisson", "per_minute": 60, "users": 3, "seed": 9, "for": "1m"}}`
	one, err := run(t, text).AppendJSON(nil)
	must(t, err)
	if two, _ := run(t, text).AppendJSON(nil); !bytes.Equal(one, two) {
		t.Errorf("first %s\nthen  %s", one, two)
	}
	usual, err := json.Marshal(run(t, text))
	must(t, err)
	var got, want any
	if json.Unmarshal(one, &got) != nil || json.Unmarshal(usual, &want) != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %s\nwant %s", one, usual)
	}
}

// endingContext ends after a number of looks at it.
type endingContext struct {
	context.Context
	looks int
}

func (c *endingContext) Err() error {
	if c.looks--; c.looks < 0 {
		return context.Canceled
	}
	return nil
}

func TestRun_Cancelled(t *testing.T) {
	for _, text := range []string{
		`{"lanes": [{"limits": []}], "traffic": {"kind": "steady", "every": "1s", "for": "1h"}}`,
		`{"lanes": [{"limits": []}], "traffic": {"kind": "eager"}}`,
		`{"lanes": [{"limits": [{"algorithm": "token-bucket", "burst": 1000, "refill": "1s"}]}], "edge": "1m"}`,
		`{"lanes": [{"limits": [{"algorithm": "sliding-window", "messages": 5, "every": "1s"}]}], "accuracy": true, "traffic": {"kind": "steady", "every": "1s", "for": "1h"}}`,
	} {
		ctx := &endingContext{t.Context(), 3}
		if _, err := Run(ctx, question(t, text)); !errors.Is(err, context.Canceled) || ctx.looks != -1 {
			t.Errorf("%s: %v after %d looks", text, err, 3-ctx.looks)
		}
	}
}

func TestMoment_JSON(t *testing.T) {
	for text, want := range map[string]Moment{"0": 0, "1767225600000": 1767225600e9, "1.5": 1_500_000, "0.000001": 1, "12.345678": 12_345_678} {
		var m Moment
		if err := json.Unmarshal([]byte(text), &m); err != nil || m != want {
			t.Errorf("%s is %d, want %d; %v", text, m, want, err)
		}
		if got, _ := json.Marshal(m); string(got) != text {
			t.Errorf("%d is %s, want %s", m, got, text)
		}
	}
	for _, text := range []string{"-1", "1e3", `"now"`, "null", "4600000000001", "true", "1.x"} {
		if json.Unmarshal([]byte(text), new(Moment)) == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}
