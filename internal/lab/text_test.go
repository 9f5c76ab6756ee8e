package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// copies is a limit on repeated text in a lane's JSON.
const copies = `{"name": "copies", "algorithm": "sliding-log", "messages": 3, "every": "30s", "per": "text", "similar": true}`

// Thirty people paste variants of one text while others talk: three of the copies pass in 30 s, and
// all others.
func TestRun_CopyPaste(t *testing.T) {
	answer := run(t, `{"lanes": [{"limits": [`+copies+`]}, {"limits": []}], "traffic": {"kind": "chat", "for": "25s", "every": "10s", "people": 5,
		"spam_every": "500ms", "spammers": 30,
		"lines": ["has anybody seen this before?", "what a lovely song", "I am back", "greetings from the train", "who is winning right now?", "one more round please"],
		"spam_lines": ["free coins at coins.example 1", "FREE coins at c\u043eins.example 22", "@anna free coins at coins.example"]}}`)
	passed, spammers := map[bool]int{}, map[string]bool{}
	for i, m := range answer.Messages {
		isSpam := strings.HasPrefix(m.UserID, "spammer-")
		if isSpam {
			spammers[m.UserID] = true
		}
		if step := answer.Lanes[0].Steps[i]; step.Allowed {
			passed[isSpam]++
		} else if !isSpam || step.Limit != "copies" {
			t.Errorf("%+v is throttled by %s", m, step.Limit)
		}
		if !answer.Lanes[1].Steps[i].Allowed || m.Text == "" {
			t.Errorf("%+v in the lane without limits: %+v", m, answer.Lanes[1].Steps[i])
		}
	}
	if answer.WithoutText != 0 {
		t.Errorf("%d messages are without a text", answer.WithoutText)
	}
	if passed[true] != 3 || passed[false] != 13 || len(spammers) != 30 {
		t.Errorf("%d copies of %d people and %d other messages pass, want 3, 30 and 13", passed[true], len(spammers), passed[false])
	}
}

// Messages with the same text have the same number in a limit, as this limit compares them. Those
// that it doesn't count have none.
func TestRun_TextNumbers(t *testing.T) {
	own := strings.NewReplacer("copies", "own", `"text"`, `"user-text"`, `"similar": true`, `"from_length": 5`).Replace(copies)
	answer := run(t, `{"lanes": [{"limits": [`+copies+`]}, {"limits": [`+own+`]}, {"limits": [`+copies+`, {"algorithm": "token-bucket", "burst": 9, "refill": "1m"}, `+own+`]}], "messages": [
		{"at": 1, "user_id": "anna", "text": "one text of many"}, {"at": 2, "user_id": "ben", "text": "another of the texts"}, {"at": 3, "user_id": "ben", "text": "short"},
		{"at": 4, "user_id": "anna"}, {"at": 5, "user_id": "ben", "text": "@anna ONE text of many 7"}, {"at": 6, "user_id": "ben", "text": "one text of many"},
		{"at": 7, "user_id": "anna", "text": "one text of many"}]}`)
	for _, want := range []struct {
		lane, limit int
		numbers     string
	}{{0, 0, "1 2 0 0 1 1 1"}, {1, 0, "1 2 3 0 4 5 1"}, {2, 0, "1 3 0 0 1 1 1"}, {2, 1, "0 0 0 0 0 0 0"}, {2, 2, "2 4 5 0 6 7 2"}} {
		var got []int
		for _, step := range answer.Lanes[want.lane].Steps {
			states := []struct {
				TextNumber int `json:"text_number"`
			}{{}}
			if step.Picture != nil {
				must(t, json.Unmarshal(step.Picture, &states[0]))
			}
			if step.Pictures != nil {
				must(t, json.Unmarshal(step.Pictures, &states))
			}
			got = append(got, states[want.limit].TextNumber)
		}
		if text := strings.Trim(fmt.Sprint(got), "[]"); text != want.numbers {
			t.Errorf("lane %d, limit %d: %s, want %s", want.lane+1, want.limit+1, text, want.numbers)
		}
	}
}

// A message without a text has no state in a limit on repeated text, and each text has its own.
func TestRun_TextPictures(t *testing.T) {
	answer := run(t, `{"lanes": [{"limits": [`+copies+`, {"algorithm": "token-bucket", "burst": 9, "refill": "1m"}]}, {"limits": [`+copies+`]}], "messages": [
		{"at": 1000, "user_id": "anna", "text": "one text of many"}, {"at": 2000, "user_id": "ben", "text": "ONE text of many!"},
		{"at": 3000, "user_id": "anna"}, {"at": 4000, "user_id": "anna", "text": "another of the texts"}]}`)
	for i, want := range []string{`{"times":1,"oldest":1000,"text_number":1}`, `{"times":2,"oldest":1000,"text_number":1}`, "null", `{"times":1,"oldest":4000,"text_number":2}`} {
		both, one := answer.Lanes[0].Steps[i], answer.Lanes[1].Steps[i]
		if !strings.HasPrefix(string(both.Pictures), "["+want+`,{"tokens":`) || string(one.Picture) != strings.TrimSuffix(want, "null") {
			t.Errorf("message %d: %s and %s, want %s", i+1, both.Pictures, one.Picture, want)
		}
	}
}

// A grant is for limits that count each user apart, whatever they write.
func TestGrant_RepeatedText(t *testing.T) {
	own := strings.Replace(copies, `"text"`, `"user-text"`, 1)
	answer := run(t, `{"lanes": [{"limits": [`+own+`, {"algorithm": "token-bucket", "burst": 9, "refill": "1m"}],
		"grants": [{"at": 1000, "user_id": "anna", "messages": 5}]}], "messages": [{"at": 2000, "user_id": "anna"}]}`)
	if until := answer.Lanes[0].Grants[0].Until; until[0] != nil || until[1] == nil {
		t.Errorf("granted %v", until)
	}
}

// What sends messages without texts refuses a limit that would never count them, and doesn't take
// it for one that allows everything.
func TestRepeatedText_Refused(t *testing.T) {
	limit := chatguard.SlidingWindowLimit("copies", 3, time.Minute)
	limit.Per = chatguard.PerText
	_, edge := RunEdge(t.Context(), time.Minute, limit)
	_, push := RunPush(t.Context(), Push{}, limit)
	_, accuracy := NewAccuracyMeter(limit)
	for what, err := range map[string]error{"edge": edge, "push": push, "accuracy": accuracy} {
		wrong, ok := errors.AsType[*Error](err)
		if !ok || wrong.Limit != "copies" || wrong.Text != what+" sends messages without a text, which limits on repeated text don't count: use another per" {
			t.Errorf("%s: %v", what, err)
		}
	}
	answer := run(t, `{"lanes": [{"limits": [`+copies+`]}, {"limits": [`+copies+`, {"algorithm": "token-bucket", "burst": 9, "refill": "1m"}]}], "edge": "1m"}`)
	if one, both := answer.Lanes[0].Edge, answer.Lanes[1].Edge; one != nil || both == nil || *both != 9 {
		t.Errorf("the most is %v and %v, want none and 9", one, both)
	}
}

func TestQuestion_TextsBounded(t *testing.T) {
	long := `"` + strings.Repeat("x", maxLine+1) + `"`
	for _, fields := range []string{`"lines": [` + long + `]`, `"spam_lines": [` + long + `]`, `"lines": [` + strings.Repeat(`"x",`, maxLines) + `"x"]`} {
		_, err := Run(t.Context(), question(t, `{"lanes": [{"limits": []}], "traffic": {"kind": "chat", "people": 1, "every": "1s", `+fields+`}}`))
		if err == nil || !strings.Contains(err.Error(), "too many or too long texts: use up to 100, of 500 bytes each") {
			t.Errorf("%.40s: %v", fields, err)
		}
	}
	large := strings.Replace(copies, `"messages": 3`, `"messages": 1024`, 1)
	messages := make([]string, MaxMessages)
	for i := range messages {
		messages[i] = fmt.Sprintf(`{"at": %d, "user_id": "anna", "text": "text %d"}`, i, i)
	}
	_, err := Run(t.Context(), question(t, `{"lanes": [{"limits": [`+large+`]}], "messages": [`+strings.Join(messages, ",")+`]}`))
	if err == nil || !strings.Contains(err.Error(), "the texts of 20000 messages need 1") {
		t.Errorf("the texts of all messages in the longest log: %v", err)
	}
}
