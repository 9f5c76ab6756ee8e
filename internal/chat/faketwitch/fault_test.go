package faketwitch

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// fetch requests the bot's account with the given client and returns the result.
func fetch(t *testing.T, s *Server, client *http.Client) (status int, body string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.HelixURL()+"/users", nil)
	must(t, err)
	req.Header.Set("Authorization", "Bearer "+s.Token())
	req.Header.Set("Client-Id", s.ClientID())
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(answer), err
}

// TestFault_SlowAnswer checks that the answer comes after the delay, or never if the client doesn't
// wait for it. The request itself is carried out at once.
func TestFault_SlowAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startInMemory(t)
		client := &http.Client{Transport: &http.Transport{DialContext: s.Dial}}
		defer client.CloseIdleConnections()
		s.FailNext(Fault{Status: AsAsked, Delay: 7 * time.Second}, Fault{Status: 503, Delay: time.Second}, Fault{Status: AsAsked, Delay: time.Hour})
		for _, want := range []struct {
			status int
			took   time.Duration
		}{{200, 7 * time.Second}, {503, time.Second}} {
			began := time.Now()
			status, _, err := fetch(t, s, client)
			if took := time.Since(began); err != nil || status != want.status || took != want.took {
				t.Errorf("%d after %v, %v; want %d after %v", status, took, err, want.status, want.took)
			}
		}
		client.Timeout = 10 * time.Second
		began := time.Now()
		if _, _, err := fetch(t, s, client); err == nil {
			t.Error("an answer that takes an hour came within 10 s")
		}
		if err := s.Close(); err != nil || time.Since(began) != 10*time.Second {
			t.Errorf("%v; the server kept an answer for %v that nobody waited for", err, time.Since(began))
		}
		if r := s.Requests(); r[0].Status != 200 || r[1].Status != 503 || r[2].Status != 200 {
			t.Errorf("recorded %+v", r)
		}
	})
}

// TestFault_After checks that with After, the answer is the fault's but the request is carried out.
// Without After, the request isn't carried out.
func TestFault_After(t *testing.T) {
	s := start(t, Options{Channels: []string{"room"}})
	path := "/moderation/bans?broadcaster_id=" + s.UserID("room") + "&moderator_id=" + s.BotID()
	for done, fault := range []Fault{{Status: 500}, {Status: 500, After: true}, {After: true}} {
		s.FailNext(fault)
		if got, _ := ask(t, s, "POST", path, `{"data":{"user_id":"5","duration":9}}`); got != fault.Status || len(s.Bans()) != done {
			t.Errorf("%+v: answered %d, %d timeouts given, want %d", fault, got, len(s.Bans()), done)
		}
	}
}

// TestFault_CutAnswer checks that the client gets the status and half of the body.
func TestFault_CutAnswer(t *testing.T) {
	s := start(t, Options{Channels: []string{"room"}})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	_, whole, err := fetch(t, s, client)
	must(t, err)
	s.FailNext(Fault{Status: AsAsked, Cut: true}, Fault{Status: 500, Cut: true})
	status, half, err := fetch(t, s, client)
	if status != 200 || !errors.Is(err, io.ErrUnexpectedEOF) || half == "" || half == whole || !strings.HasPrefix(whole, half) {
		t.Errorf("%d %q, %v", status, half, err)
	}
	if status, _, err := fetch(t, s, client); status != 500 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an error cut off: %d, %v", status, err)
	}
	path := "/moderation/bans?broadcaster_id=" + s.UserID("room") + "&moderator_id=" + s.BotID()
	if got, body := ask(t, s, "POST", path, `{"data":{"user_id":"5","duration":9}}`); got != 200 {
		t.Fatalf("%d %s", got, body)
	}
	s.FailNext(Fault{Status: AsAsked, Cut: true})
	if got, _ := ask(t, s, "DELETE", path+"&user_id=5", ""); got != 0 || s.Requests()[4].Status != 204 {
		t.Errorf("an answer without a body, cut off: %d", got)
	}
}

// TestFault_ByRequest checks that a function decides which requests fail if no other fault is
// pending.
func TestFault_ByRequest(t *testing.T) {
	s := start(t, Options{Channels: []string{"room"}})
	s.SetHelixFaults(func(r Request) (Fault, bool) { return Fault{Status: 500}, r.Path == "/helix/users" })
	s.FailNext(Fault{Status: 503})
	for _, c := range []struct {
		path string
		want int
	}{{"/users", 503}, {"/users", 500}, {"/chat/settings?broadcaster_id=" + s.UserID("room"), 200}, {"/users", 500}} {
		if got, _ := ask(t, s, "GET", c.path, ""); got != c.want {
			t.Errorf("%s: %d, want %d", c.path, got, c.want)
		}
	}
	s.SetHelixFaults(nil)
	if got, _ := ask(t, s, "GET", "/users", ""); got != 200 {
		t.Errorf("once it is over: %d", got)
	}
}
