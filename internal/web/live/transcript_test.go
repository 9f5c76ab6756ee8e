package live

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/roles"
)

// hear adds a message of a user to a transcript. If entry isn't 0, the message is throttled.
func hear(t *transcript, channel, user, text string, entry int64) {
	m := chatguard.Message{ChannelID: channel, User: chatguard.User{ID: user, Login: "login" + user, DisplayName: "Name" + user, Roles: chatguard.Roles{roles.VIP}}, Text: text}
	v := chatguard.Verdict{At: time.Unix(0, t.now.Load()), ChannelID: channel, UserID: user, Allowed: entry == 0, EntryID: chatguard.EntryID(entry)}
	t.add(&m, "#1e90ff", &v)
}

// texts returns the texts of messages, with brackets around the one that was asked for.
func texts(said []Said) string {
	var all []string
	for _, s := range said {
		if s.Asked {
			s.Text = "[" + s.Text + "]"
		}
		all = append(all, s.Text)
	}
	return strings.Join(all, " ")
}

func isEntry(id chatguard.EntryID) func(record) bool {
	return func(r record) bool { return r.entry() == id }
}

func TestTranscript_Around(t *testing.T) {
	var said transcript
	said.expire(noon)
	for i := range 9 {
		hear(&said, channelID, fmt.Sprint(i%3), fmt.Sprint(i), int64(i%2*(100+i)))
		hear(&said, "other", "1", "elsewhere", 0)
	}
	for name, test := range map[string]struct {
		n      int
		wanted func(record) bool
		want   string
	}{
		"entry":         {2, isEntry(103), "1 2 [3] 4 5"},
		"first":         {2, isEntry(101), "0 [1] 2 3"},
		"last of user":  {2, func(r record) bool { return r.isOf("1") }, "5 6 [7] 8"},
		"itself":        {0, isEntry(105), "[5]"},
		"unknown":       {2, isEntry(104), ""},
		"more than all": {99, isEntry(101), "0 [1] 2 3 4 5 6 7 8"},
	} {
		if got := texts(said.around(channelID, test.n, test.wanted)); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	want := Said{
		At: noon, UserID: "1", Login: "login1", DisplayName: "Name1", Color: "#1e90ff", Roles: chatguard.Roles{roles.VIP}, Text: "1",
		Entry: 101, Throttled: true, Asked: true,
	}
	if got := said.around(channelID, 0, isEntry(101))[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestTranscript_ClipsTexts(t *testing.T) {
	var said transcript
	long := strings.Repeat("é", 70_000)
	m := chatguard.Message{User: chatguard.User{Login: long, DisplayName: "a\nb"}, Text: long}
	said.add(&m, long, &chatguard.Verdict{At: noon, ChannelID: channelID, UserID: long, EntryID: 1})
	hear(&said, channelID, "2", "after", 0)
	got := said.around(channelID, 1, isEntry(1))
	if len(got) != 2 || got[0].Text != clipped(long) || len(got[0].Login) > journal.MaxName || got[0].DisplayName != "ab" || got[1].Text != "after" {
		t.Errorf("%.300v", got)
	}
}

// clipped returns the text as the journal stores it.
func clipped(text string) string {
	return journal.NewEntry(chatguard.Message{Text: text}, chatguard.Verdict{}).Text
}

// No message stays longer than Recent, nor much shorter.
func TestTranscript_Expires(t *testing.T) {
	var said transcript
	for i := range 240 {
		now := noon.Add(time.Duration(i) * 5 * time.Second)
		said.expire(now)
		hear(&said, channelID, "1", fmt.Sprint(i), 0)
		all := said.around(channelID, 5000, func(record) bool { return true })
		if first := all[0].At; now.Sub(first) >= Recent || i > 120 && now.Sub(first) < Recent-2*chunkSpan {
			t.Fatalf("at %s, the first message is of %s", now, first)
		}
	}
	said.expire(noon.Add(time.Hour))
	for i := range said.shards {
		if n := len(said.shards[i].chunks); n != 0 {
			t.Errorf("%d chunks are left", n)
		}
	}
}

func TestTranscript_ClockSetBack(t *testing.T) {
	var said transcript
	said.expire(noon)
	hear(&said, channelID, "1", "before", 0)
	said.expire(noon.Add(-time.Hour))
	hear(&said, channelID, "1", "after", 0)
	if got := texts(said.around(channelID, 9, func(record) bool { return true })); got != "[after]" {
		t.Errorf("got %q", got)
	}
}

func TestTranscript_Bounded(t *testing.T) {
	var said transcript
	text := strings.Repeat("x", 300)
	for i := range 20_000 {
		hear(&said, channelID, "1", text, int64(i+1))
	}
	chunks, size := said.shard(channelID).chunks, 0
	for _, c := range chunks {
		size += cap(c.data)
	}
	if len(chunks) != maxChunks || size > 2*maxChunks*chunkSize {
		t.Errorf("%d chunks of %d bytes", len(chunks), size)
	}
	if got := said.around(channelID, 1, isEntry(20_000)); len(got) != 2 {
		t.Errorf("the last message has gone: %v", got)
	}
	if got := said.around(channelID, 1, isEntry(1)); len(got) != 0 {
		t.Errorf("the first message stayed: %v", got)
	}
}

// Readers and writers of a shard do not wait for one another, and readers see whole messages only.
func TestTranscript_Concurrent(t *testing.T) {
	var said transcript
	var all sync.WaitGroup
	for writer := range 4 {
		all.Go(func() {
			for i := range 3000 {
				hear(&said, channelID, fmt.Sprint(writer), strings.Repeat("x", i%100), int64(i+1))
			}
		})
	}
	for range 2 {
		all.Go(func() {
			for i := range 300 {
				said.expire(noon.Add(time.Duration(i) * time.Second))
				for _, s := range said.around(channelID, 20, func(record) bool { return true }) {
					if s.Login != "login"+s.UserID || strings.Trim(s.Text, "x") != "" {
						t.Errorf("message %+v", s)
					}
				}
			}
		})
	}
	all.Wait()
}

func BenchmarkObserve(b *testing.B) {
	m := newModel(b)
	msg := chatguard.Message{ChannelID: channelID, User: chatguard.User{ID: "43", Login: "anna", DisplayName: "Anna"}, Text: "hello everyone, how are you tonight?"}
	v := chatguard.Verdict{At: noon, ChannelID: channelID, UserID: "43", Allowed: true}
	b.ReportAllocs()
	for b.Loop() {
		m.Observe(msg, v)
	}
}
