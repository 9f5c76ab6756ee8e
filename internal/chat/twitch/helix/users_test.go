package helix

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
)

func TestUsers(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	h, _ := newHelix(t, srv)
	var logins []string
	for n := range 250 {
		logins = append(logins, fmt.Sprintf("user%d", n))
		srv.UserID(logins[n])
	}
	got, err := h.Users(t.Context(), append(logins, "nobody")...)
	if err != nil || len(got) != 250 {
		t.Fatalf("%d accounts, %v", len(got), err)
	}
	for _, a := range got {
		if a.ID != srv.UserID(a.Login) {
			t.Errorf("%+v", a)
		}
	}
	if len(srv.Requests()) != 3 {
		t.Errorf("%d requests for 251 logins, want 3", len(srv.Requests()))
	}
	if got, err := h.Users(t.Context()); err != nil || len(got) != 0 || len(srv.Requests()) != 3 {
		t.Errorf("no logins: %v, %v", got, err)
	}
}

// TestModeratedChannels checks that all pages are requested.
func TestModeratedChannels(t *testing.T) {
	for channels, pages := range map[int]int{0: 1, 100: 1, 101: 2, 250: 3} {
		srv := twitchtest.Start(t)
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
	srv := twitchtest.Start(t)
	h, _ := newHelix(t, srv)
	for id, want := range map[string]error{"": twitch.ErrUnsafe, "5": twitch.ErrRejected} {
		if _, err := h.ModeratedChannels(t.Context(), id); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", id, err, want)
		}
	}
}

// TestModeratedChannels_EndlessList checks that a list whose pages never end is abandoned.
func TestModeratedChannels_EndlessList(t *testing.T) {
	h := answering(t, `{"data":[{"broadcaster_id":"1"}],"pagination":{"cursor":"more"}}`).Helix
	if _, err := h.ModeratedChannels(t.Context(), "1"); !errors.Is(err, twitch.ErrRejected) {
		t.Error(err)
	}
}

// TestLiveChannels checks that all channels are asked about, 100 in a request.
func TestLiveChannels(t *testing.T) {
	srv := twitchtest.Start(t)
	h, _ := newHelix(t, srv)
	var ids []string
	began := time.Date(2026, 3, 14, 20, 0, 0, 0, time.UTC)
	for n := range 150 {
		login := fmt.Sprint("channel", n)
		ids = append(ids, srv.AddChannel(login))
		if n%3 == 0 {
			srv.SetLive(login, began.Add(time.Duration(n)*time.Minute))
		}
	}
	got, err := h.LiveChannels(t.Context(), ids...)
	if err != nil || len(got) != 50 || !got[ids[147]].Equal(began.Add(147*time.Minute)) || len(srv.Requests()) != 2 {
		t.Errorf("%d channels in %d requests, %v", len(got), len(srv.Requests()), err)
	}
	if got, err := h.LiveChannels(t.Context()); err != nil || len(got) != 0 || len(srv.Requests()) != 2 {
		t.Errorf("no channels: %v, %v", got, err)
	}
	if _, err := h.LiveChannels(t.Context(), ids[0], ""); !errors.Is(err, twitch.ErrUnsafe) {
		t.Errorf("a bad ID: %v", err)
	}
}
