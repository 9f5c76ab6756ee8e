package checkclient_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/checkclient"
)

// judge is what a Guard and a Client have in common.
type judge interface {
	Check(context.Context, chatguard.Message) (chatguard.Verdict, error)
	CheckUpTo(context.Context, chatguard.Message) (int, chatguard.Verdict, error)
	CheckAll(context.Context, []chatguard.Message, []chatguard.Verdict) error
	Refund(context.Context, chatguard.Verdict) error
}

// A Client judges messages as the Guard itself does, and its verdicts have every field that their
// JSON has.
func TestClient_JudgesAsGuard(t *testing.T) {
	slow := chatguard.LeakyBucketLimit("slow", 4*time.Second, 5)
	daily := chatguard.DailyWindowLimit("daily", 20)
	s, client := serve(t, burst, slow, daily)
	guard, err := chatguard.New(s.guard.Policy(), &chatguard.Options{Now: s.clock.Now})
	must(t, err)
	late := from("1")
	late.SentAt = s.clock.Now().Add(-30 * time.Second)
	whole := from("1")
	whole.Cost = 2
	never := from("1")
	never.Cost = 9
	mod := from("1")
	mod.User = chatguard.User{ID: "2", Login: "anna", DisplayName: "Anna <b>", Roles: chatguard.Roles{chatguard.RoleModerator}}
	mod.ID, mod.Text = "m1", strings.Repeat("aé\n\xff", 9000)
	for i, m := range []chatguard.Message{from("1"), late, never, whole, mod, from("1"), from("1")} {
		var got, want [3]string
		for j, by := range []judge{client, guard} {
			record := func(v chatguard.Verdict, err error) string {
				must(t, err)
				return string(v.AppendJSON(nil))
			}
			into := []*[3]string{&got, &want}[j]
			v, err := by.Check(t.Context(), m)
			into[0] = record(v, err)
			taken, v, err := by.CheckUpTo(t.Context(), m)
			into[1] = record(v, err) + fmt.Sprint(" taken ", taken)
			must(t, by.Refund(t.Context(), v))
			all := []chatguard.Message{m, from("3")}
			verdicts := make([]chatguard.Verdict, len(all))
			err = by.CheckAll(t.Context(), all, verdicts)
			into[2] = record(verdicts[0], err) + record(verdicts[1], err)
		}
		if got != want {
			t.Errorf("message %d\n%s\nwant\n%s", i, strings.Join(got[:], "\n"), strings.Join(want[:], "\n"))
		}
		s.clock.Advance(7 * time.Second)
	}
}

// A refund gives back what a message spent. A verdict that spent nothing isn't sent.
func TestClient_Refund(t *testing.T) {
	s, client := serve(t, burst)
	m := from("1")
	m.Cost = 3
	spent, err := client.Check(t.Context(), m)
	if err != nil || !spent.Allowed {
		t.Fatalf("%v, %v", spent, err)
	}
	throttled, err := client.Check(t.Context(), m)
	if err != nil || throttled.Allowed {
		t.Fatalf("%v, %v", throttled, err)
	}
	for _, v := range []chatguard.Verdict{throttled, spent} {
		if err := client.Refund(t.Context(), v); err != nil {
			t.Error(err)
		}
	}
	if v, err := client.Check(t.Context(), m); err != nil || !v.Allowed {
		t.Errorf("after the refund: %v, %v", v, err)
	}
	if asked := fmt.Sprint(s.asked()); asked != "[/check /check /check/refund /check]" {
		t.Errorf("asked %s", asked)
	}
}

// All requests use one connection, even after one that is refused.
func TestClient_KeepsConnection(t *testing.T) {
	s, client := serve(t, burst)
	refused := from("1")
	refused.Cost = 1 << 31
	for range 3 {
		v, err := client.Check(t.Context(), from("1"))
		if err != nil {
			t.Error(err)
		}
		if err := client.Refund(t.Context(), v); err != nil {
			t.Error(err)
		}
		if _, err := client.Check(t.Context(), refused); err == nil {
			t.Error("the cost is accepted")
		}
		if err := client.CheckAll(t.Context(), []chatguard.Message{from("1")}, make([]chatguard.Verdict, 1)); err != nil {
			t.Error(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.connections != 1 || len(s.requests) != 12 {
		t.Errorf("%d connections for %d requests", s.connections, len(s.requests))
	}
}

// A message that can't be judged has the error that the Guard would return, and isn't sent.
func TestClient_InvalidMessage(t *testing.T) {
	s, client := serve(t, burst)
	for want, m := range map[string]chatguard.Message{
		"the user ID":    {ChannelID: "lobby"},
		"the channel ID": {User: chatguard.User{ID: "1"}},
		"the time":       {ChannelID: "lobby", User: chatguard.User{ID: "1"}, SentAt: time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		if v, err := client.Check(t.Context(), m); !errors.Is(err, chatguard.ErrInvalid) || !strings.Contains(err.Error(), want) || v.Allowed {
			t.Errorf("%v, %v, want %v", v, err, want)
		}
		if taken, v, err := client.CheckUpTo(t.Context(), m); !errors.Is(err, chatguard.ErrInvalid) || v.Allowed || taken != 0 {
			t.Errorf("%v, %v, want %v", v, err, want)
		}
	}
	if asked := s.asked(); len(asked) != 0 {
		t.Errorf("asked %s", asked)
	}
}

// No text is a mistake, since users choose theirs. chatguard gets as much of it as it uses, and the
// verdict has the message's IDs.
func TestClient_LongTexts(t *testing.T) {
	s, err := start(burst)
	must(t, err)
	defer s.Close()
	sent := 0
	client := newClient(t, s.URL, &checkclient.Options{Timeout: patience, Transport: transport(func(r *http.Request) (*http.Response, error) {
		sent = int(r.ContentLength)
		return http.DefaultTransport.RoundTrip(r)
	})})
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	for _, text := range []string{"a\nb\x00\u0085c\x7f", "a\xffb\uFFFDc", strings.Repeat("x", 251), strings.Repeat("\n", 1<<20), "x" + strings.Repeat("é", 1<<20)} {
		var last chatguard.Verdict
		m := chatguard.Message{ID: text, ChannelID: text, Text: text, User: chatguard.User{ID: text, Login: text, DisplayName: text}}
		for i, want := range []bool{true, true, true, false, true} {
			v, err := client.Check(t.Context(), m)
			if err != nil || v.Allowed != want || v.Degraded || v.UserID != text || v.ChannelID != text || sent > 30_000 {
				t.Errorf("%.20q, %d: %v, %v, with %d bytes", text, i, v.Allowed, err, sent)
			}
			if i == 3 {
				must(t, client.Refund(t.Context(), last))
			}
			last = v
		}
	}
}

// New names the argument that is wrong.
func TestNew_Invalid(t *testing.T) {
	for _, c := range []struct {
		url, token string
		opts       checkclient.Options
		says       string
	}{
		{"127.0.0.1:8080", token, checkclient.Options{}, "the base URL"},
		{"localhost:8080", token, checkclient.Options{}, `the base URL "localhost:8080" must be like "http://127.0.0.1:8080"`},
		{"ftp://localhost", token, checkclient.Options{}, "must be like"},
		{"http:///check", token, checkclient.Options{}, "must be like"},
		{"http://anna:secret@localhost", token, checkclient.Options{}, `"http://anna:xxxxx@localhost" must have no user, query or fragment`},
		{"http://localhost?x", token, checkclient.Options{}, "must have no user, query or fragment"},
		{"http://localhost", "", checkclient.Options{}, `the token is empty; "chatguard token make NAME --role check" makes one`},
		{"http://localhost", token + "\n", checkclient.Options{}, "the token has a space, a line break"},
		{"http://localhost", token, checkclient.Options{Timeout: -1}, "must not be negative"},
	} {
		if _, err := checkclient.New(c.url, c.token, &c.opts); err == nil || !strings.HasPrefix(err.Error(), "checkclient: ") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q, %q: %v, want %s", c.url, c.token, err, c.says)
		}
	}
	if _, err := checkclient.New("https://chat.example/guard/", token, nil); err != nil {
		t.Error(err)
	}
}
