//go:build !race

package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/turntest"
	"github.com/chatguard/chatguard/internal/web/check"
)

// Channels and users that servers ask about share no allowance with other channels and users that
// have the same IDs. This also holds for limits across all channels.
func TestCheck_SeparateSpace(t *testing.T) {
	total := everywhere
	total.Messages = 3
	d, asServer := runLobby(t, setCheckSpace, addLimits(t, total))
	said := checkForm{Channel: channelID, UserID: "41", ID: "m1", Text: "hello"}
	for range 3 {
		d.check(said, http.StatusOK, asServer)
	}
	a, v := d.check(said, http.StatusTooManyRequests, asServer)
	if v.Channel != channelID || v.UserID != "41" || strings.Contains(string(a.body)+fmt.Sprint(a.Header), "check:") {
		t.Errorf("%s %v", a.body, a.Header)
	}
	batch := d.do("POST", "/api/v1/check/batch", batchForm{Messages: []checkForm{said}}, asServer)
	if strings.Contains(string(batch.body), "check:") || !strings.Contains(string(batch.body), `"channel":"7","user_id":"41"`) {
		t.Errorf("%s", batch.body)
	}
	if v := d.say(chatguard.User{ID: "41"}, 3); !v.Allowed || v.Strikes != 0 {
		t.Errorf("the user of the other chat: %+v", v)
	}
	if channels := d.server.Asked(); len(channels) != 1 || channels[0] != "check:"+channelID {
		t.Errorf("%q have a place", channels)
	}
}

// Users of a server are found by the IDs that the server sends.
func TestCheck_FindsUsersByPlainID(t *testing.T) {
	d, asServer := runLobby(t, setCheckSpace)
	for _, user := range []checkForm{{Channel: lobby, UserID: "41", Login: "anna"}, {Channel: lobby, UserID: "410"}} {
		for i, status := range []int{http.StatusOK, http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
			user.Text = fmt.Sprint("hi", i)
			d.check(user, status, asServer)
		}
	}
	room := "/api/v1/channels/check:lobby"
	decode[amended](t, d.do("POST", room+"/users/check:410/grant", grantWanted{Messages: 2}, asOwner))
	decode[amended](t, d.do("POST", room+"/users/check:41/reset", nil, asOwner))
	for _, text := range []string{"41", "check:41", "anna", "ann"} {
		found := decode[foundUsers](t, d.do("GET", "/api/v1/users?channel=check:lobby&q="+text, nil, asOwner))
		if len(found.Users) != 1 || found.Users[0].UserID != "check:41" {
			t.Errorf("%q finds %+v", text, found.Users)
		}
	}
	for _, text := range []string{"41", "check:41", "anna"} {
		page := decode[entryPage](t, d.do("GET", "/api/v1/journal?channel=check:lobby&user="+text, nil, asOwner))
		if len(page.Entries) != 1 || page.Entries[0].UserID != "check:41" {
			t.Errorf("%q has the entries %+v", text, page.Entries)
		}
		changes := decode[auditAnswer](t, d.do("GET", "/api/v1/audit?channel=check:lobby&user="+text, nil, asOwner))
		if len(changes.Changes) != 1 || changes.Changes[0].UserID != "check:41" {
			t.Errorf("%q has the changes %+v", text, changes.Changes)
		}
	}
	if c := decode[card](t, d.do("GET", room+"/users/check:410", nil, asOwner)); len(c.Entries) != 1 || c.Verdict.Limit != "burst" {
		t.Errorf("the card: %+v", c)
	}
	if got := around(t, d.do("GET", room+"/messages?user=check:410&n=2", nil, asOwner)); got != "hi1 hi2 [hi3]" {
		t.Errorf("messages %q", got)
	}
	decode[any](t, d.do("GET", room+"/policy", nil, asOwner))
}

// roomMessages returns one message of a user for each room. The rooms are numbered from the first
// number up to but not including the second.
func roomMessages(from, to int) (batch batchForm) {
	for i := from; i < to; i++ {
		batch.Messages = append(batch.Messages, checkForm{Channel: fmt.Sprint("room", i), UserID: "41"})
	}
	return batch
}

// A server that sends too many different room IDs, such as user IDs by mistake, can open no new
// rooms. Its existing rooms keep working, listed rooms always have a place, and other servers can
// still open rooms.
func TestCheck_ShareOfRooms(t *testing.T) {
	turntest.Expensive(t)
	var entered []string
	d, asServer := runLobby(t, func(o *Options) { o.Check.Entered = func(id string) { entered = append(entered, id) } })
	const share = check.MaxChannels / 2
	for from := 0; from < share-1; from += check.MaxBatch {
		decode[any](t, d.do("POST", "/api/v1/check/batch", roomMessages(from, min(from+check.MaxBatch, share-1)), asServer))
	}
	beyond := d.do("POST", "/api/v1/check/batch", roomMessages(share-1, share+1), asServer)
	verdicts := decode[struct{ Verdicts []checkedAnswer }](t, beyond).Verdicts
	if len(verdicts) != 2 || !verdicts[0].Allowed || !strings.HasPrefix(verdicts[1].String(), "422 There is no place for the channel") || len(d.server.Asked()) != share {
		t.Errorf("two new channels with one free place: %s, %d are open", beyond.body, len(d.server.Asked()))
	}
	a := d.do("POST", "/api/v1/check", checkForm{Channel: strings.Repeat("one too many ", 10), UserID: "41"}, asServer)
	for _, says := range []string{`"token:may-check\" has opened 5000 channels since the start, and 5000 of 10000 places are free`, "A token cannot open more once it has opened as many as are free. Add the channel to [check] channels"} {
		if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(string(a.body), says) || strings.Count(string(a.body), "one too many") > 6 {
			t.Errorf("%s %s", a.Status, a.body)
		}
	}
	d.check(checkForm{Channel: "room7", UserID: "41"}, http.StatusOK, asServer)
	d.check(checkForm{Channel: lobby, UserID: "41"}, http.StatusOK, asServer)
	if len(entered) != share+1 || entered[7] != "room7" || entered[share] != lobby {
		t.Errorf("Entered was called for %d channels", len(entered))
	}

	other, err := d.store.NewToken(t.Context(), auth.Identity{Name: "other", Access: auth.Check}, 0)
	if err != nil {
		t.Fatal(err)
	}
	decode[any](t, d.do("POST", "/api/v1/check/batch", roomMessages(6000, 7000), setBearer(other)))
	d.check(checkForm{Channel: "one too many", UserID: "41"}, http.StatusOK, setBearer(other))
}
