package fingerprint_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
)

// TestLimits shows what limits on repeated text do to a raid of 2,000 accounts, each of which
// writes one of 40 variants of a text once within a minute, and to 5,000 lines of real chat.
func TestLimits(t *testing.T) {
	raid := raidOf(t, 2000, time.Minute)
	log := realLog(t)
	for _, c := range []struct {
		similar    bool
		fromLength int
		want       string
	}{
		{false, 12, "108 of 2000 pass, 17 of 40 variants; 152 messages of 117 users, 7 of them unlike"},
		{true, 12, "30 of 2000 pass, 4 of 40 variants; 138 messages of 107 users, 9 of them unlike"},
		{true, 20, "30 of 2000 pass, 4 of 40 variants; 12 messages of 11 users, 2 of them unlike"},
	} {
		limit := chatguard.SlidingLogLimit("copies", 3, 30*time.Second)
		limit.Per, limit.Similar, limit.FromLength = chatguard.PerText, c.similar, c.fromLength
		passed, variants := 0, map[string]int{}
		for _, m := range raid {
			variants[m.Text] += 0
		}
		throttledOf(t, limit, raid, func(m chat.Message, v chatguard.Verdict) {
			if v.Allowed {
				passed++
				variants[m.Text]++
			}
		})
		own := 0 // variants that aren't the same text as the others
		for _, n := range variants {
			if n >= 3 {
				own++
			}
		}
		hit, unlike, users, earlier := 0, 0, map[string]bool{}, map[string]time.Time{}
		throttledOf(t, limit, log, func(m chat.Message, v chatguard.Verdict) {
			if !v.Allowed {
				hit++
				users[m.User.ID] = true
				if at, ok := earlier[m.Text]; !ok || m.SentAt.Sub(at) > limit.Every {
					unlike++
				}
			}
			earlier[m.Text] = m.SentAt
		})
		got := fmt.Sprintf("%d of %d pass, %d of %d variants; %d messages of %d users, %d of them unlike", passed, len(raid), own, len(variants), hit, len(users), unlike)
		t.Logf("similar %v, from %d characters: %s", c.similar, c.fromLength, got)
		if got != c.want {
			t.Errorf("similar %v, from %d characters: %s, want %s", c.similar, c.fromLength, got, c.want)
		}
	}
}

// throttledOf judges messages by a limit, and passes each verdict to each.
func throttledOf(t *testing.T, limit chatguard.Limit, messages []chat.Message, each func(chat.Message, chatguard.Verdict)) {
	t.Helper()
	guard, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{limit}}, &chatguard.Options{Now: func() time.Time { return messages[0].SentAt }})
	must(t, err)
	for _, m := range messages {
		v, err := guard.Check(t.Context(), m.Message)
		must(t, err)
		each(m, v)
	}
}

// raidOf returns the messages of a raid: each account writes the next variant.
func raidOf(t *testing.T, accounts int, within time.Duration) (messages []chat.Message) {
	t.Helper()
	file, err := os.ReadFile("testdata/raid.txt")
	must(t, err)
	var variants []string
	for line := range strings.Lines(string(file)) {
		if _, quoted, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			text, err := strconv.Unquote(quoted)
			must(t, err)
			variants = append(variants, text)
		}
	}
	start := time.Date(2026, 11, 28, 20, 0, 0, 0, time.UTC)
	for i := range accounts {
		m := chatguard.Message{ChannelID: "1", User: chatguard.User{ID: strconv.Itoa(1000 + i)}, Text: variants[i%len(variants)], SentAt: start.Add(within / time.Duration(accounts) * time.Duration(i))}
		messages = append(messages, chat.Message{Message: m})
	}
	return messages
}
