package twitch

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

// TestModeratedChannels: all pages are asked for.
func TestModeratedChannels(t *testing.T) {
	for channels, pages := range map[int]int{0: 1, 100: 1, 101: 2, 250: 3} {
		srv := startTwitch(t)
		h, _ := newHelix(t, srv)
		var want []string
		for n := range channels {
			want = append(want, srv.AddChannel(fmt.Sprint("channel", n)))
		}
		srv.AddChannel("elsewhere")
		srv.SetBotModerator("elsewhere", false)
		got, err := h.ModeratedChannels(t.Context(), srv.BotID())
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) || len(srv.Requests()) != pages {
			t.Errorf("%d channels: got %d in %d requests, %v", channels, len(got), len(srv.Requests()), err)
		}
	}
	srv := startTwitch(t)
	h, _ := newHelix(t, srv)
	for id, want := range map[string]error{"": ErrUnsafe, "5": ErrRejected} {
		if _, err := h.ModeratedChannels(t.Context(), id); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", id, err, want)
		}
	}
}

// TestEndlessList: a server whose pages never end is given up.
func TestEndlessList(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data":[{"broadcaster_id":"1"}],"pagination":{"cursor":"more"}}`)
	}))
	defer srv.Close()
	h := &Helix{BaseURL: srv.URL, Token: tokenOf("a-token")}
	defer h.Close()
	if _, err := h.ModeratedChannels(t.Context(), "1"); !errors.Is(err, ErrRejected) {
		t.Error(err)
	}
}
