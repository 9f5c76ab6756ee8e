//go:build !race

package web

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// long is longer than any ID or name.
var long = strings.Repeat("x", problem.MaxText+1)

func TestFindUsers(t *testing.T) {
	d := dash(t)
	ago := func(minutes time.Duration) time.Time { return d.now().Add(-minutes * time.Minute) }
	d.recordPast(teapot, ago(30))
	d.recordPast(chatguard.User{ID: "83", Login: "bertas_friend"}, ago(20))
	d.recordPast(chatguard.User{ID: "84", Login: "roberta"}, ago(10))
	d.say(berta, 1)
	for range 2 { // pending, then written
		for q, want := range map[string][]string{
			"":                    {"berta", "roberta", "bertas_friend", "teapot"},
			"berta":               {"berta", "bertas_friend", "roberta"},
			" @Berta":             {"berta", "bertas_friend", "roberta"},
			"@berta\u034f \u2800": {"berta", "bertas_friend", "roberta"},
			"82":                  {"teapot"},
			"<b>":                 nil,
		} {
			var logins []string
			for _, p := range decode[foundUsers](t, d.do("GET", "/api/v1/users?channel="+channelID+"&q="+url.QueryEscape(q), nil, asOwner)).Users {
				logins = append(logins, p.Login)
			}
			if !slices.Equal(logins, want) {
				t.Errorf("%q finds %q, want %q", q, logins, want)
			}
		}
		d.flush()
	}
	if n := len(decode[foundUsers](t, d.do("GET", "/api/v1/users", nil, asOwner)).Users); n != 4 {
		t.Errorf("without a channel %d are found in the first one", n)
	}
	d.wantProblem("too long", "GET", "/api/v1/users?q="+long, nil, owned, 422, "256 bytes at most")
	d.store.reads.set(errors.New("damaged: /secret/path"))
	d.wantProblem("in trouble", "GET", "/api/v1/users", nil, owned, 503, "Users can't be searched now: the database is failing.")
}

// A search says if more users match than it returns.
func TestFindUsers_More(t *testing.T) {
	d := dash(t)
	for i := range mostFound {
		d.say(chatguard.User{ID: fmt.Sprint(100 + i), Login: fmt.Sprint("owl_", i)}, 1)
	}
	find := func() foundUsers {
		return decode[foundUsers](t, d.do("GET", "/api/v1/users?q=owl", nil, asOwner))
	}
	if found := find(); len(found.Users) != mostFound || found.More {
		t.Errorf("%d of %d are found, more: %v", len(found.Users), mostFound, found.More)
	}
	d.say(chatguard.User{ID: "99", Login: "snowy_owl"}, 1)
	if found := find(); len(found.Users) != mostFound || !found.More {
		t.Errorf("of one more, %d are found, more: %v", len(found.Users), found.More)
	}
}

func TestGetOverrides(t *testing.T) {
	d := dash(t)
	list := func() []overriddenUser {
		return decode[overriddenUsers](t, d.do("GET", channelPath+"/overrides", nil, asOwner)).Users
	}
	if len(list()) != 0 {
		t.Errorf("without overrides, listed: %+v", list())
	}
	d.say(berta, 1)
	numbers := chatguard.UserOverride{Limits: map[string]chatguard.Override{"burst": {Burst: 7}}}
	decode[amended](t, d.do("PUT", channelPath+"/users/"+berta.ID+"/override", numbers, asOwner))
	decode[amended](t, d.do("POST", channelPath+"/users/90/exempt", nil, asOwner))
	is := func(when, login string) {
		t.Helper()
		l := list()
		if len(l) != 2 || l[1].UserID != "90" || l[1].Override.Exempt != chatguard.ExemptAlways || l[0].Login != login || l[0].Override.Limits["burst"].Burst != 7 {
			t.Errorf("%s: %+v", when, l)
		}
	}
	is("listed", "berta")
	one := decode[overriddenUsers](t, d.do("GET", channelPath+"/overrides?n=1", nil, asOwner))
	rest := decode[overriddenUsers](t, d.do("GET", channelPath+"/overrides?n=1&after="+one.Users[0].UserID, nil, asOwner))
	for _, page := range []overriddenUsers{one, rest} {
		if len(page.Users) != 1 || page.More != (page.Users[0].UserID == one.Users[0].UserID) || page.ByLimit["burst"] != 1 {
			t.Errorf("a page of one: %+v", page)
		}
	}
	d.store.reads.set(errors.New("damaged"))
	l := list()
	if len(l) != 2 || l[0].UserID != berta.ID || l[0].Login != "" {
		t.Errorf("in trouble: %+v", l)
	}
}
