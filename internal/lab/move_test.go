package lab

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// allowedAt returns which messages of a question pass in its first lane.
func allowedAt(t *testing.T, q Question) (passed []bool) {
	t.Helper()
	a, err := Run(t.Context(), q)
	must(t, err)
	for _, s := range a.Lanes[0].Steps {
		passed = append(passed, s.Allowed)
	}
	return passed
}

func TestMove(t *testing.T) {
	// Midnight is at 23:00 UTC in Berlin and at 05:00 UTC in New York.
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	var messages []Message
	for _, hour := range []int{0, 1, 2, 10, 12, 18, 40} { // from noon on; the third is one too many
		messages = append(messages, Message{At: momentOf(noon.Add(time.Duration(hour) * time.Hour)), UserID: "anna"})
	}
	q := Question{
		Lanes:    []Lane{{Limits: []chatguard.Limit{chatguard.DailyWindowLimit("daily", 2)}}},
		Timezone: "Europe/Berlin", Messages: messages,
		Move: &Move{At: momentOf(noon.Add(3 * time.Hour)), Timezone: "America/New_York"},
	}
	// The day in Berlin ends as it would have. The next one lasts until the second midnight in New
	// York, 30 hours later, because the first is only 6 hours away; it allows 2 messages.
	want := []bool{true, true, false, false, true, true, false}
	if got := allowedAt(t, q); !slices.Equal(got, want) {
		t.Errorf("after a move: %v, want %v", got, want)
	}
	q.Lanes[0].Limits[0].Timezone = "Europe/Berlin"
	want[6] = true
	if got := allowedAt(t, q); !slices.Equal(got, want) {
		t.Errorf("with a timezone of its own: %v, want %v", got, want)
	}
}

func TestMove_Refused(t *testing.T) {
	for zone, want := range map[string]string{
		"":        `move: it has no timezone: name one, such as "America/New_York"`,
		"Nowhere": `move: unknown timezone "Nowhere"`,
	} {
		_, err := Run(t.Context(), Question{Lanes: []Lane{{}}, Move: &Move{Timezone: zone}})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", zone, err, want)
		}
	}
}

func TestQuestion_NoSteps(t *testing.T) {
	q := Question{
		Lanes:    []Lane{{Limits: []chatguard.Limit{chatguard.SlidingWindowLimit("window", 50, time.Minute)}}},
		Traffic:  &Traffic{Kind: Poisson, PerMinute: 27, Seed: 1},
		Accuracy: true, NoSteps: true,
	}
	a, err := Run(t.Context(), q)
	must(t, err)
	if len(a.Messages) > 0 || len(a.Lanes[0].Steps) > 0 {
		t.Errorf("%d messages and %d steps, want none", len(a.Messages), len(a.Lanes[0].Steps))
	}
	if a.Accuracy == nil || a.Accuracy.Messages == 0 || a.Lanes[0].Figures.Allowed == 0 {
		t.Error("the figures or the accuracy are missing")
	}
	data, _ := a.AppendJSON(nil)
	if !json.Valid(data) {
		t.Errorf("not JSON: %.200s", data)
	}
}
