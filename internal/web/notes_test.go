//go:build !race

package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// localised is a user whose display name is in another script than the login.
var localised = chatguard.User{ID: "91", Login: "nagai", DisplayName: "長い"}

func TestNotes(t *testing.T) {
	d := dash(t)
	d.say(localised, 1)
	d.say(berta, 1)
	notes := channelPath + "/users/" + localised.ID + "/notes"
	added := decode[changedNote](t, d.do("POST", notes, map[string]string{"text": " Speaks Japanese. "}, asOwner))
	if !added.Saved || added.Note.Text != "Speaks Japanese." || added.Note.Author != "owner" || added.Note.ID == 0 {
		t.Errorf("%+v", added)
	}
	if l := decode[userNotes](t, d.do("GET", notes, nil, asOwner)).Notes; len(l) != 1 || l[0] != added.Note {
		t.Errorf("%+v", l)
	}
	c := decode[struct {
		DisplayName string         `json:"display_name"`
		Notes       []journal.Note `json:"notes"`
	}](t, d.do("GET", strings.TrimSuffix(notes, "/notes"), nil, asOwner))
	if len(c.Notes) != 1 || c.DisplayName != "長い" {
		t.Errorf("the card has %+v", c)
	}
	for query, want := range map[string]int{"": 2, "noted=true": 1, "noted=true&q=berta": 0, "q=" + url.QueryEscape("長"): 1} {
		users := decode[foundUsers](t, d.do("GET", "/api/v1/users?"+query, nil, asOwner)).Users
		if len(users) != want || want == 1 && (users[0].Notes != 1 || users[0].DisplayName != "長い") {
			t.Errorf("%s finds %+v", query, users)
		}
	}
	d.wantProblem("empty", "POST", notes, map[string]string{"text": "\n"}, owned, 422, "the note is empty")
	d.wantProblem("too long", "POST", notes, map[string]string{"text": strings.Repeat("x", 1001)}, owned, 422, "at most 1000")
	d.wantProblem("of nobody", "DELETE", notes+"/99", nil, owned, 404, "there is no such note")
	path := notes + "/" + strconv.FormatInt(added.Note.ID, 10)
	decode[changedNote](t, d.do("DELETE", path, nil, asOwner))
	d.wantProblem("deleted before", "DELETE", path, nil, owned, 404, "there is no such note")
	page := decode[auditAnswer](t, d.do("GET", "/api/v1/audit?channel="+channelID+"&name="+url.QueryEscape("長"), nil, asOwner))
	if len(page.Changes) != 2 || page.Changes[0].Action != journal.NoteDeleted || page.Changes[1].Action != journal.UserNoted || page.Changes[0].DisplayName != "長い" {
		t.Errorf("%+v", page.Changes)
	}
}

func TestJournal_ByName(t *testing.T) {
	d := dash(t)
	d.say(localised, 4)
	entry := d.say(berta, 4).EntryID
	d.flush()
	for query, want := range map[string]string{
		"&name=" + url.QueryEscape("い"): "nagai", "&name=NAG": "nagai", "&name=91": "nagai", "&name=ert": "berta", "&name=nobody": "", "&name=": "berta nagai",
		"&entry=" + strconv.FormatInt(int64(entry), 10): "berta", "&entry=1": "",
	} {
		var logins []string
		for _, e := range decode[entryPage](t, d.do("GET", "/api/v1/journal?channel="+channelID+query, nil, asOwner)).Entries {
			logins = append(logins, e.Login)
		}
		if got := strings.Join(logins, " "); got != want {
			t.Errorf("%s finds %q, want %q", query, got, want)
		}
	}
	d.wantProblem("without a channel", "GET", "/api/v1/journal?name=berta", nil, owned, http.StatusUnprocessableEntity, "add the parameter channel")
}
