package fingerprint_test

import (
	"bufio"
	"compress/gzip"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch/irc"
	"github.com/chatguard/chatguard/internal/fingerprint"
)

var showPairs = flag.Bool("show-pairs", false, "print the texts of the real log that are the same only by normalization")

// repeated counts the messages whose text was written within 60 s before.
type repeated struct {
	others, own         int // by another user, by the same one
	othersOnly, ownOnly int // of them, those whose text differs from each earlier one byte for byte
}

// TestOf_RealLog counts repetitions in 5,000 lines that Twitch sent in 2019, from go-twitch-irc's
// own test data.
func TestOf_RealLog(t *testing.T) {
	messages := realLog(t)
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

// realLog returns the messages of the log, in the order of their times.
func realLog(t *testing.T) (messages []chat.Message) {
	t.Helper()
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/gempir/go-twitch-irc/v4").Output()
	must(t, err)
	file, err := os.Open(filepath.Join(strings.TrimSpace(string(module)), "test_resources", "channel.txt.gz"))
	must(t, err)
	defer file.Close()
	plain, err := gzip.NewReader(file)
	must(t, err)
	lines := bufio.NewScanner(plain)
	for lines.Scan() {
		if m, ok, err := irc.Parse(lines.Text()); ok && err == nil {
			messages = append(messages, m)
		}
	}
	must(t, lines.Err())
	slices.SortStableFunc(messages, func(a, b chat.Message) int { return a.SentAt.Compare(b.SentAt) })
	return messages
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
