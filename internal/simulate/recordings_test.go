package simulate

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// saidSince returns the messages of a channel since a time, as seconds after the start and login.
func saidSince(t *testing.T, r *Recordings, channel string, since time.Time) (list []string) {
	t.Helper()
	if err := r.Timeline(t.Context(), channel, since, func(batch []journal.TimelineMessage) error {
		for _, m := range batch {
			list = append(list, fmt.Sprint(m.At.Sub(start).Seconds(), " ", m.UserID, " ", m.Login, " ", m.Cost))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestRecordings_InOrderOfTime(t *testing.T) {
	var r Recordings
	for _, m := range []struct {
		channel string
		at      int
		id      string
		login   string
	}{{"8", 1, "1", "anna"}, {"7", 5, "1", "anna"}, {"7", 0, "2", "berta"}, {"7", 5, "2", "berta"}, {"7", 3, "1", "ann"}} {
		name := map[string]string{"7": "garden"}[m.channel]
		must(t, r.Add(chatguard.Message{ChannelID: m.channel, User: chatguard.User{ID: m.id, Login: m.login}, SentAt: start.Add(time.Duration(m.at) * time.Second)}, name))
	}
	r.Sort()
	if got, want := r.Channels(), []RecordedChannel{{"7", "garden", 4}, {"8", "", 1}}; !reflect.DeepEqual(got, want) {
		t.Errorf("channels %+v, want %+v", got, want)
	}
	all := []string{"0 2 berta 1", "3 1 ann 1", "5 1 anna 1", "5 2 berta 1"}
	for _, test := range []struct {
		since time.Time
		want  []string
	}{
		{time.Time{}, all}, {start, all}, {start.Add(1), all[1:]}, {start.Add(5 * time.Second), all[2:]}, {start.Add(time.Hour), nil},
	} {
		if got := saidSince(t, &r, "7", test.since); !reflect.DeepEqual(got, test.want) {
			t.Errorf("since %s: %v, want %v", test.since, got, test.want)
		}
	}
	if got := saidSince(t, &r, "9", time.Time{}); got != nil || r.Has("9") || !r.Has("8") {
		t.Errorf("of an unknown channel: %v", got)
	}
}

func TestRecordings_Refuse(t *testing.T) {
	var r Recordings
	for _, test := range []struct {
		m     chatguard.Message
		login string
		want  error
	}{
		{chatguard.Message{User: chatguard.User{ID: "1"}, SentAt: start}, "", chatguard.ErrInvalid},
		{chatguard.Message{ChannelID: "7", SentAt: start}, "", chatguard.ErrInvalid},
		{chatguard.Message{ChannelID: "7", User: chatguard.User{ID: "1", Login: strings.Repeat("x", 257)}, SentAt: start}, "", errLongLogin},
		{chatguard.Message{ChannelID: "7", User: chatguard.User{ID: "1"}, SentAt: start}, strings.Repeat("x", 257), errLongLogin},
	} {
		if err := r.Add(test.m, test.login); !errors.Is(err, test.want) {
			t.Errorf("%+v: %v, want %v", test.m, err, test.want)
		}
	}
	if r.Messages() != 0 || len(r.Channels()) != 0 {
		t.Errorf("kept %d messages", r.Messages())
	}
}

// A Reader that adds one message too many stops.
func TestRecordings_Full(t *testing.T) {
	r := Recordings{count: MaxRecorded - 1}
	reader := Reader{Visit: func(m chatguard.Message, _ []byte) error { return r.Add(m, "") }}
	line := `{"at": 1767614400000, "channel": "7", "user_id": "1"}` + "\n"
	if err := reader.Read(t.Context(), "chat", strings.NewReader(line)); err != nil {
		t.Error(err)
	}
	if err := reader.Read(t.Context(), "chat", strings.NewReader(line)); !errors.Is(err, ErrFull) {
		t.Errorf("error %v, want %v", err, ErrFull)
	}
}

func TestRecordings_ManyChannels(t *testing.T) {
	var r Recordings
	add := func(n int) error {
		return r.Add(chatguard.Message{ChannelID: fmt.Sprint(n), User: chatguard.User{ID: "1"}, SentAt: start}, "")
	}
	for n := range maxChannels {
		must(t, add(n))
	}
	if err := add(maxChannels); err != errCrowd {
		t.Errorf("error %v, want %v", err, errCrowd)
	}
	if err := add(0); err != nil {
		t.Error(err)
	}
}

func TestRecordings_Stop(t *testing.T) {
	var r Recordings
	for range 2*visitSize + 1 {
		must(t, r.Add(chatguard.Message{ChannelID: "7", User: chatguard.User{ID: "1"}, SentAt: start}, ""))
	}
	calls, enough := 0, errors.New("enough")
	err := r.Timeline(t.Context(), "7", time.Time{}, func([]journal.TimelineMessage) error { calls++; return enough })
	if err != enough || calls != 1 {
		t.Errorf("%d calls, error %v", calls, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = r.Timeline(ctx, "7", time.Time{}, func([]journal.TimelineMessage) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
