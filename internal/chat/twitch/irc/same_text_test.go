package irc

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/fingerprint"
)

var showPairs = flag.Bool("show-pairs", false, "print the texts of the real log that are the same only by normalization")

// repeated counts the messages whose text was written within 60 s before.
type repeated struct {
	others, own         int // by another user, by the same one
	othersOnly, ownOnly int // of them, those whose text differs from each earlier one byte for byte
}

// TestSameText_RealLog counts repetitions in a real log.
func TestSameText_RealLog(t *testing.T) {
	messages := realMessages(t)
	for _, c := range []struct {
		name    string
		length  int
		similar bool
		want    repeated
	}{
		{"exact", 8, false, repeated{others: 1262, own: 74, othersOnly: 62, ownOnly: 19}},
		{"exact", 12, false, repeated{others: 341, own: 48, othersOnly: 31, ownOnly: 13}},
		{"exact", 20, false, repeated{others: 70, own: 27, othersOnly: 5, ownOnly: 5}},
		{"similar", 8, true, repeated{others: 1270, own: 90, othersOnly: 115, ownOnly: 39}},
		{"similar", 12, true, repeated{others: 296, own: 58, othersOnly: 42, ownOnly: 25}},
		{"similar", 20, true, repeated{others: 58, own: 35, othersOnly: 6, ownOnly: 14}},
	} {
		got, counted := repetitions(messages, c.similar, c.length, func(earlier, m chat.Message) {
			if *showPairs {
				fmt.Printf("%s %d: %q = %q\n", c.name, c.length, earlier.Text, m.Text)
			}
		})
		t.Logf("%s, from %d characters: %d messages count; repeated by others %d (%d only by normalization), by the same user %d (%d)",
			c.name, c.length, counted, got.others, got.othersOnly, got.own, got.ownOnly)
		if got != c.want {
			t.Errorf("%s, from %d characters: %+v, want %+v", c.name, c.length, got, c.want)
		}
	}
}

// repetitions counts the repetitions, and the messages that have at least length characters. It
// calls pair for an earlier message and one that repeats it only by normalization.
func repetitions(messages []chat.Message, similar bool, length int, pair func(earlier, m chat.Message)) (r repeated, counted int) {
	k := fingerprint.Key{1}
	earlier := map[fingerprint.Print][]chat.Message{}
	for _, m := range messages {
		prints := k.Of(m.Text, !similar, similar)
		p := prints.Exact
		if similar {
			p = prints.Similar
		}
		if p.Length < length {
			continue
		}
		counted++
		for _, own := range []bool{false, true} {
			same := slices.DeleteFunc(slices.Clone(earlier[p]), func(e chat.Message) bool {
				return (e.User.ID == m.User.ID) != own || m.SentAt.Sub(e.SentAt) > time.Minute
			})
			if len(same) == 0 {
				continue
			}
			equal := slices.ContainsFunc(same, func(e chat.Message) bool { return e.Text == m.Text })
			all, only := &r.others, &r.othersOnly
			if own {
				all, only = &r.own, &r.ownOnly
			}
			*all++
			if !equal {
				*only++
				pair(same[len(same)-1], m)
			}
		}
		earlier[p] = append(earlier[p], m)
	}
	return r, counted
}

// realMessages returns the messages of the log, in the order of their times.
func realMessages(t *testing.T) (messages []chat.Message) {
	t.Helper()
	for _, line := range realLog(t) {
		if m, ok, err := Parse(line); ok && err == nil {
			messages = append(messages, m)
		}
	}
	slices.SortStableFunc(messages, func(a, b chat.Message) int { return a.SentAt.Compare(b.SentAt) })
	return messages
}

// TestSameText_Limits shows what limits on repeated text do to a raid of 2,000 accounts, each of
// which writes one of 40 variants of a text once within a minute, and to 5,000 lines of real chat.
func TestSameText_Limits(t *testing.T) {
	raid := raidOf(t, 2000, time.Minute)
	log := realMessages(t)
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
	file, err := os.ReadFile("../../../fingerprint/testdata/raid.txt")
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
