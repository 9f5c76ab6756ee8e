package twitchbot

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

// TestStreams_Steps checks which answers of Twitch belong to one stream. Times are minutes. Each
// step is an answer: "12 live 3" says at minute 12 that the channel is live since minute 3. The
// recorded streams have start and last time seen, and "…" if they run.
func TestStreams_Steps(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before string // the stream recorded before the start: "start-seen", with "…" if it ran
		steps  []string
		want   string
	}{
		"offline":                     {"", []string{"0 off", "1 off"}, ""},
		"begins and ends":             {"", []string{"10 live 3", "11 live 3", "12 off", "13 off"}, "3-11"},
		"a short interruption":        {"", []string{"10 live 3", "12 off", "20 live 19", "21 live 19"}, "3-21…"},
		"a long interruption":         {"", []string{"10 live 3", "12 off", "21 live 21"}, "3-10 21-21…"},
		"another without an end":      {"", []string{"10 live 3", "30 live 25"}, "3-10 25-30…"},
		"a start in the future":       {"", []string{"10 live 15"}, "10-10…"},
		"runs on after a restart":     {"3-10…", []string{"90 live 3"}, "3-90…"},
		"comes back after a restart":  {"3-10…", []string{"15 live 14"}, "3-15…"},
		"ended before a restart":      {"3-10…", []string{"90 off"}, "3-10"},
		"another after a restart":     {"3-10…", []string{"90 live 60"}, "3-10 60-90…"},
		"an end that came too early":  {"3-10", []string{"60 live 3"}, "3-60…"},
		"another after a known end":   {"3-10", []string{"60 live 60", "61 off"}, "3-10 60-60"},
		"Twitch forgets for a minute": {"", []string{"1 live 0", "2 off", "3 live 0"}, "0-3…"},
	} {
		recorded := map[time.Time]string{}
		now := noon
		s := newStreams(slog.New(slog.DiscardHandler), func() time.Time { return now }, func(stream journal.Stream) { recorded[stream.Start] = writeStream(stream) })
		if test.before != "" {
			before := journal.Stream{ChannelID: "7", Ended: !strings.HasSuffix(test.before, "…")}
			var start, seen int
			fmt.Sscanf(test.before, "%d-%d", &start, &seen)
			before.Start, before.Seen = minute(start), minute(seen)
			recorded[before.Start] = test.before
			(&Connection{streams: s}).RestoreStreams([]journal.Stream{before, {ChannelID: "7", Start: noon.Add(-time.Hour), Seen: noon.Add(-time.Hour)}})
		}
		for _, step := range test.steps {
			var at, since int
			isLive := strings.Contains(step, "live")
			if n, _ := fmt.Sscanf(step, "%d live %d", &at, &since); n == 0 {
				fmt.Sscanf(step, "%d off", &at)
			}
			now = minute(at)
			start := time.Time{}
			if isLive {
				start = minute(since)
			}
			s.update("7", start, isLive)
		}
		var got []string
		for _, start := range slices.SortedFunc(maps.Keys(recorded), time.Time.Compare) {
			got = append(got, recorded[start])
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: recorded %q, want %q", name, got, test.want)
		}
	}
}

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func minute(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }

// writeStream writes a stream in minutes.
func writeStream(s journal.Stream) string {
	text := fmt.Sprintf("%.0f-%.0f", s.Start.Sub(noon).Minutes(), s.Seen.Sub(noon).Minutes())
	if !s.Ended {
		text += "…"
	}
	return text
}

// TestLiveSince_OutdatedAnswer checks that an old answer of Twitch isn't relied on.
func TestLiveSince_OutdatedAnswer(t *testing.T) {
	t.Parallel()
	now := minute(10)
	c := Offline(slog.New(slog.DiscardHandler))
	c.streams.now = func() time.Time { return now }
	if since, known := c.LiveSince("7"); !since.IsZero() || known {
		t.Errorf("%v, %v before the first answer", since, known)
	}
	c.streams.update("7", minute(3), true)
	c.streams.update("8", time.Time{}, false)
	now = now.Add(StreamGap)
	if since, known := c.LiveSince("7"); !since.Equal(minute(3)) || !known {
		t.Errorf("%v, %v", since, known)
	}
	if since, known := c.LiveSince("8"); !since.IsZero() || !known {
		t.Errorf("%v, %v where nothing runs", since, known)
	}
	now = now.Add(time.Second)
	if since, known := c.LiveSince("7"); !since.IsZero() || known {
		t.Errorf("%v, %v long after the last answer", since, known)
	}
}
