package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/turntest"
	"github.com/chatguard/chatguard/limitinfo"
)

func TestQuestion_Refused(t *testing.T) {
	const lanes = `"lanes": [{"limits": [{"algorithm": "sliding-log", "messages": 1024, "every": "60s"}]}]`
	lane := func(limits string) string { return `{"lanes": [{"limits": []}, {"limits": [` + limits + `]}]}` }
	for text, want := range map[string]string{
		`{}`: "there are no lanes: send 1 to 8, each with its limits",
		`{"lanes": [` + strings.Repeat(`{"limits": []},`, 8) + `{"limits": []}]}`: "there are 9 lanes: send 1 to 8",
		`{"lanes": [{}, null]}`:                                                          "lane 2: it is null instead of an object",
		`{"lanes": [{"names": "a"}]}`:                                                    `lane 1: unknown key "names"`,
		`{"lanes": [{"limits": {}}]}`:                                                    "lane 1: limits has the wrong kind of value (object)",
		lane(strings.Repeat(`{"algorithm": "token-bucket"},`, 8) + `{}`):                 "lane 2: it has 9 limits: use 8 or fewer",
		lane(`{"algorithm": "token-bucket", "burst": "3"}`):                              `lane 2: limit "token-bucket": burst has the wrong kind of value (string), want a whole number`,
		lane(`{"name": "b", "algorithm": "token-bucket", "burst": 3, "refill": "4"}`):    `lane 2: limit "b": "4" is not a duration (want 4s, 30m, 24h, 30d)`,
		lane(`{"name": "b", "algorithm": "token-bucket", "burst": 3, "refill": "-4s"}`):  `lane 2: limit "b": refill is -4s, want more than 0s`,
		lane(`{"burst": 3}`):                                                             `lane 2: limit "1": unknown algorithm "" (known: token-bucket, leaky-bucket, fixed-window, daily-window, user-window, sliding-window, sliding-log, cascade)`,
		lane(`{"name": "a b", "algorithm": "token-bucket", "burst": 3, "refill": "4s"}`): `lane 2: limit "a b": a name is up to 64 letters, digits, - and _`,
		lane(strings.Repeat(`{"name": "b", "algorithm": "token-bucket", "burst": 3, "refill": "4s"},`, 2) + `{"algorithm": "sliding-log", "messages": 9, "every": "1s"}`): `lane 2: limit "b": another limit has this name`,
		`{` + lanes + `, "timezone": "Mars/Olympus"}`:                                                                           `timezone: unknown timezone "Mars/Olympus" (want an IANA name such as Europe/Berlin)`,
		`{` + lanes + `, "messages": [{"at": 1, "user_id": "a"}], "traffic": {"kind": "steady"}}`:                               "there are messages and traffic: send only one of them",
		`{` + lanes + `, "messages": [{"at": 1, "user_id": "a"}, {"at": 1, "user_id": ""}]}`:                                    "message 2: it has no user: set user_id",
		`{` + lanes + `, "messages": [{"at": 1, "user_id": "` + strings.Repeat("x", 257) + `"}]}`:                               "message 1: its user_id is too long: use 256 bytes or fewer",
		`{` + lanes + `, "messages": [` + manyUsers(9000) + `]}`:                                                                "lane 1: 9000 users need 85 MiB, and the Lab has 64 MiB: use fewer users, or a smaller log",
		`{` + lanes + `, "traffic": {"kind": "steady"}}`:                                                                        `traffic: steady needs every, such as "20s"`,
		`{` + lanes + `, "traffic": {"kind": "bursts", "every": "1s"}}`:                                                         "traffic: bursts needs size, from 1 to 20000, but it is 0",
		`{` + lanes + `, "traffic": {"kind": "steady", "every": "1ms"}}`:                                                        "traffic: it has more than 20000 messages: shorten it with for, or make it slower",
		`{` + lanes + `, "traffic": {"kind": "steady", "every": "1s", "for": "367d"}}`:                                          "traffic: for is 8808h: use 366d or less",
		`{` + lanes + `, "traffic": {"kind": "steady", "every": "1s", "from": "1969-12-31T00:00:00Z"}}`:                         "traffic: from is 1969-12-31T00:00:00Z: use a time from 1970 to 2115",
		`{` + lanes + `, "traffic": {"kind": "poisson"}}`:                                                                       "traffic: poisson needs per_minute, more than 0 and at most 1,000,000",
		`{` + lanes + `, "traffic": {"kind": "chat", "every": "1s", "people": 1001}}`:                                           "traffic: chat needs people, from 1 to 1000, but it is 1001",
		`{` + lanes + `, "traffic": {"kind": "chat", "every": "1s", "people": 1, "spam_every": "1ns"}}`:                         "traffic: spam_every is 1ns: use 1µs or more",
		`{` + lanes + `, "traffic": {"kind": "eager", "messages": 20001}}`:                                                      "traffic: messages is 20001: use 20000 or fewer",
		`{` + lanes + `, "traffic": {"kind": "eager", "messages": -1}}`:                                                         "messages is -1: use 1 to 1000000",
		`{"lanes": [{"limits": [{"algorithm": "fixed-window", "messages": 1, "every": "13h"}]}], "traffic": {"kind": "eager"}}`: `lane 1: limit "fixed-window": 10000 messages take more than 12h: send fewer`,
		`{` + lanes + `, "edge": "367d"}`:                                                                                       "the span is 8808h: use more than 0s, up to 366d",
	} {
		var q Question
		err := json.Unmarshal([]byte(text), &q)
		if err == nil {
			_, err = Run(t.Context(), q)
		}
		if wrong := (*Error)(nil); !errors.As(err, &wrong) || err.Error() != want {
			t.Errorf("%.100s: %v, want %s", text, err, want)
		}
	}
}

// manyUsers returns messages of n users.
func manyUsers(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"at": 1, "user_id": "%d"}`, i)
	}
	return strings.Join(list, ",")
}

// A text that is not a duration, a pause or a turn is an error of the JSON.
func TestQuestion_Unreadable(t *testing.T) {
	for text, want := range map[string]string{
		`{"edge": "soon"}`:                 `"soon" is not a duration: want 4s, 30m, 24h or 30d`,
		`{"traffic": {"pauses": ["4s"]}}`:  `"4s" is not a pause: want 4s+500ms, which is 500ms after 4s`,
		`{"traffic": {"turn": "1s/10ms"}}`: `"1s/10ms" is not a turn: want 10ms/1s, which is the first 10ms of each second`,
		`{"messages": [{"at": "now"}]}`:    `"at" is "now": want milliseconds from 1970 to 2115`,
		`{"lane": []}`:                     `unknown key "lane"`,
	} {
		if err := json.Unmarshal([]byte(text), new(Question)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Programs in Go have the same bounds as JSON.
func TestRun_TooMuch(t *testing.T) {
	limits := make([]chatguard.Limit, MaxLimits+1)
	for want, q := range map[string]Question{
		"lane 1: it has 9 limits: use 8 or fewer":       {Lanes: []Lane{{Limits: limits}}},
		"there are 20001 messages: send 20000 or fewer": {Lanes: []Lane{{}}, Messages: make([]Message, MaxMessages+1)},
	} {
		if _, err := Run(t.Context(), q); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// A picture of a long queue shows only when its first messages leave.
func TestAppendPicture_LongQueue(t *testing.T) {
	s := limitinfo.Status{Algorithm: chatguard.LeakyBucket}
	s.Picture.Count = 100
	var got struct{ Leaves []float64 }
	if err := json.Unmarshal(appendPicture(nil, &s, time.Second, 0), &got); err != nil || len(got.Leaves) != maxLeaves {
		t.Errorf("%d leave, %v", len(got.Leaves), err)
	}
}

func TestQuestion_TooManyMessages(t *testing.T) {
	var q Question
	err := json.Unmarshal([]byte(`{"lanes": [{"limits": []}], "messages": [`+manyUsers(MaxMessages+1)+`]}`), &q)
	if want := "there are more than 20000 messages: send 20000 or fewer"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// Long queues in many limits make pictures that are larger than their messages.
func TestQuestion_TooManyPictures(t *testing.T) {
	q := Question{Lanes: make([]Lane, MaxLanes), Traffic: &Traffic{Kind: Steady, Every: Duration(time.Second), For: Duration(time.Hour)}}
	for i := range q.Lanes {
		for range MaxLimits {
			q.Lanes[i].Limits = append(q.Lanes[i].Limits, chatguard.LeakyBucketLimit("", time.Hour, 10_000))
		}
	}
	const want = "the states of all limits take more than 6 MiB: send fewer messages, or fewer lanes or limits"
	if _, err := Run(t.Context(), q); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// A small question can neither have a huge answer nor take a processor for long.
func TestQuestion_Bounded(t *testing.T) {
	turntest.Expensive(t)
	steps := Question{Lanes: make([]Lane, MaxLanes), Traffic: &Traffic{Kind: Steady, Every: Duration(time.Second), For: Duration(MaxMessages * time.Second)}}
	answer, err := Run(t.Context(), steps)
	if err != nil || answer.Work() > MaxWork || answer.Work() < MaxLanes*MaxMessages {
		t.Fatalf("the most messages on the most lanes: %v, work %d", err, answer.Work())
	}
	if _, err := answer.AppendJSON(nil); err == nil || err.Error() != "the answer has more than 8 MiB: send fewer messages or lanes, or no_steps" {
		t.Errorf("the answer's JSON: %v", err)
	}
	edges := Question{Lanes: make([]Lane, MaxLanes), Edge: Duration(24 * time.Hour), NoSteps: true}
	for i := range edges.Lanes {
		for n := range MaxLimits {
			edges.Lanes[i].Limits = append(edges.Lanes[i].Limits, chatguard.FixedWindowLimit(fmt.Sprint("window", n), 150_000, 24*time.Hour))
		}
	}
	if _, err := Run(t.Context(), edges); err == nil || err.Error() != "the question is too much work: send fewer messages, lanes or limits, or a shorter span" {
		t.Errorf("edges of long windows: %v", err)
	}
}
