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

// Many messages go in several batches that the server accepts, and each gets its own verdict.
func TestClient_CheckAll_Splits(t *testing.T) {
	for name, c := range map[string]struct {
		messages, batches int
		text              string
	}{
		"by number": {2500, 3, ""},
		"by size":   {300, 3, strings.Repeat("\n", 8192/2)}, // each is 8 kB of JSON
		"empty":     {0, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := serve(t, burst)
			var messages []chatguard.Message
			for i := range c.messages {
				m := from(fmt.Sprint(i / 5))
				m.Text = c.text
				messages = append(messages, m)
			}
			verdicts := make([]chatguard.Verdict, c.messages)
			must(t, client.CheckAll(t.Context(), messages, verdicts))
			for i, v := range verdicts {
				if v.Allowed != (i%5 < 3) || v.UserID != messages[i].User.ID {
					t.Fatalf("%d: %v of %s", i, v, v.UserID)
				}
			}
			if asked := s.asked(); len(asked) != c.batches {
				t.Errorf("%d batches, want %d", len(asked), c.batches)
			}
		})
	}
}

// Messages that can't be judged are left out of the batch, and the others get their verdicts.
func TestClient_CheckAll_Errors(t *testing.T) {
	s, client := serve(t, burst)
	messages := []chatguard.Message{from("1"), {ChannelID: "lobby"}, from("2")}
	verdicts := make([]chatguard.Verdict, 4)
	verdicts[1].Allowed, verdicts[3].Allowed = true, true
	err := client.CheckAll(t.Context(), messages, verdicts)
	if !errors.Is(err, chatguard.ErrInvalid) || !strings.Contains(err.Error(), "message 1: ") {
		t.Error(err)
	}
	if !verdicts[0].Allowed || verdicts[1].Allowed || verdicts[2].UserID != "2" || !verdicts[3].Allowed {
		t.Errorf("%v", verdicts)
	}

	messages = make([]chatguard.Message, 3000)
	for i := range messages {
		messages[i] = from("3")
	}
	messages[1500].ChannelID, messages[1501].Cost, messages[1999].SentAt = "a\nb", 1<<31, time.Date(2026, 3, 1, 20, 0, 0, 0, time.FixedZone("", 1))
	verdicts = make([]chatguard.Verdict, 3000)
	err = client.CheckAll(t.Context(), messages, verdicts)
	var refused *checkclient.Error
	if !errors.As(err, &refused) || refused.Status != http.StatusUnprocessableEntity || err.Error() != "message 1501: checkclient: status 422: cost is 2147483648: want a whole number from 1 to 2147483647." {
		t.Error(err)
	}
	allowed := 0
	for i, v := range verdicts {
		if wrong := i == 1501; wrong != (v == chatguard.Verdict{}) || !wrong && (v.UserID != "3" || v.ChannelID != messages[i].ChannelID) {
			t.Errorf("%d: %v", i, v)
		}
		if v.Allowed {
			allowed++
		}
	}
	if allowed != 4 || len(s.asked()) != 4 {
		t.Errorf("%d allowed, %d requests", allowed, len(s.asked()))
	}
}

// If chatguard refuses a request for another reason, the later batches are not sent, and their
// verdicts don't allow anything.
func TestClient_CheckAll_Stops(t *testing.T) {
	s, client := serve(t, burst)
	wrong, err := checkclient.New(s.URL, "wrong", &checkclient.Options{Timeout: patience})
	must(t, err)
	defer wrong.CloseIdleConnections()
	messages, verdicts := make([]chatguard.Message, 3000), make([]chatguard.Verdict, 3000)
	for i := range messages {
		messages[i] = from("3")
	}
	if err := client.CheckAll(t.Context(), messages[:1], verdicts); err != nil || !verdicts[0].Allowed {
		t.Errorf("%v, %v", verdicts[0], err)
	}
	err = wrong.CheckAll(t.Context(), messages, verdicts)
	var refused *checkclient.Error
	if !errors.As(err, &refused) || refused.Status != http.StatusUnauthorized || !strings.Contains(err.Error(), "from message 0 on: ") {
		t.Error(err)
	}
	if verdicts[0] != (chatguard.Verdict{}) || verdicts[2999] != (chatguard.Verdict{}) || len(s.asked()) != 2 {
		t.Errorf("%v %v, %d requests", verdicts[0], verdicts[2999], len(s.asked()))
	}
}

// Once a batch isn't answered, the later messages go unchecked without another request.
func TestClient_CheckAll_FailsOpen(t *testing.T) {
	s, err := start(burst)
	must(t, err)
	defer s.Close()
	for _, closed := range []bool{false, true} {
		requests := 0
		client := newClient(t, s.URL, &checkclient.Options{FailClosed: closed, Timeout: patience, Transport: transport(func(r *http.Request) (*http.Response, error) {
			if requests++; requests > 1 {
				return nil, errors.New("the network is down")
			}
			return http.DefaultTransport.RoundTrip(r)
		})})
		messages := make([]chatguard.Message, 4000)
		for i := range messages {
			messages[i] = from(fmt.Sprint(closed))
		}
		verdicts := make([]chatguard.Verdict, len(messages))
		err := client.CheckAll(t.Context(), messages, verdicts)
		if closed != errors.Is(err, checkclient.ErrUnavailable) || requests != 2 {
			t.Errorf("%v after %d requests", err, requests)
		}
		if verdicts[999].Allowed || verdicts[1000].Allowed == closed || verdicts[1000].Degraded == closed || verdicts[3999].Allowed == closed {
			t.Errorf("%v, %v, %v", verdicts[999], verdicts[1000], verdicts[3999])
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// A cancelled CheckAll stops, and allows nothing more.
func TestClient_CheckAll_Cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	requests := 0
	client := newClient(t, "http://localhost", &checkclient.Options{Timeout: time.Hour, Transport: transport(func(r *http.Request) (*http.Response, error) {
		requests++
		cancel()
		<-r.Context().Done()
		return nil, r.Context().Err()
	})})
	messages, verdicts := make([]chatguard.Message, 3000), make([]chatguard.Verdict, 3000)
	for i := range messages {
		messages[i] = from("1")
	}
	if err := client.CheckAll(ctx, messages, verdicts); !errors.Is(err, context.Canceled) || verdicts[0].Allowed || verdicts[2999].Allowed || requests != 1 {
		t.Errorf("%v, %d requests", err, requests)
	}
}
