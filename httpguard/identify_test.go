package httpguard

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
)

func TestIdentify_Ways(t *testing.T) {
	byKey := ByKey("Authorization", func(key string) (chatguard.User, bool) {
		if key == "" || key == "Bearer" {
			t.Errorf("asked about %q, which is no key", key)
		}
		return chatguard.User{ID: "7", Login: "anna"}, key == "secret"
	})
	broken := errors.New("broken")
	breaks := func(*http.Request) (chatguard.User, error) { return chatguard.User{}, broken }
	key := func(value string) *http.Request {
		return &http.Request{RemoteAddr: "192.0.2.7:1234", Header: http.Header{"Authorization": {value}}}
	}
	for name, test := range map[string]struct {
		way     func(*http.Request) (chatguard.User, error)
		request *http.Request
		want    string
		err     error
	}{
		"address":                  {ByAddress(nil), newRequest("192.0.2.7:1234"), "address:192.0.2.7", nil},
		"address, IPv6":            {ByAddress(nil), newRequest("[2001:db8::9]:1234"), "address:2001:db8::/64", nil},
		"address, proxy":           {ByAddress(&AddressOptions{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}), newRequest("10.1.1.1:1", "192.0.2.9"), "address:192.0.2.9", nil},
		"address, a longer prefix": {ByAddress(&AddressOptions{IPv6Bits: 56}), newRequest("[2001:db8:1:2ff::9]:1234"), "address:2001:db8:1:200::/56", nil},
		"address, each alone":      {ByAddress(&AddressOptions{IPv6Bits: 128}), newRequest("[2001:db8::9%eth0]:1234"), "address:2001:db8::9/128", nil},
		"address, NAT64":           {ByAddress(nil), newRequest("[64:ff9b::192.0.2.7]:1234"), "address:192.0.2.7", nil},
		"address, in brackets":     {ByAddress(nil), newRequest("[192.0.2.7]:1234"), "address:192.0.2.7", nil},
		"key":                      {byKey, key("secret"), "7", nil},
		"key, bearer":              {byKey, key("bearer  secret "), "7", nil},
		"key, another scheme":      {byKey, key("Basic secret"), "", ErrNobody},
		"key, wrong":               {byKey, key("Bearer wrong"), "", ErrNobody},
		"key, none":                {byKey, newRequest("192.0.2.7:1234"), "", ErrNobody},
		"key, empty":               {byKey, key("Bearer "), "", ErrNobody},
		"anonymous":                {Anonymous, newRequest("192.0.2.7:1234"), "anonymous", nil},
		"first of":                 {FirstOf(byKey, Anonymous), key("secret"), "7", nil},
		"first of, the second":     {FirstOf(byKey, Anonymous), key("wrong"), "anonymous", nil},
		"first of, none":           {FirstOf(byKey), key("wrong"), "", ErrNobody},
		"first of, an error":       {FirstOf(breaks, Anonymous), key("secret"), "", broken},
		"first of, no ways yet":    {FirstOf(), key("secret"), "", ErrNobody},
		"value":                    {ByValue(func(r *http.Request) string { return "anonymous" }), newRequest("@"), "value:anonymous", nil},
		"value, none":              {ByValue(func(r *http.Request) string { return "" }), newRequest("@"), "", ErrNobody},
		"value, long": {ByValue(func(r *http.Request) string { return strings.Repeat("7", 1000) }), newRequest("@"),
			"value:sha256:2fb8ebc720944eeb80c783813f870f3bbc20353e4d5714dea88ec06395503876", nil},
	} {
		if user, err := test.way(test.request); user.ID != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: %+v, %v; want %q, %v", name, user, err, test.want, test.err)
		}
	}
	for _, bits := range []int{-1, 129} {
		if user, err := ByAddress(&AddressOptions{IPv6Bits: bits})(newRequest("192.0.2.7:1")); err == nil || !strings.Contains(err.Error(), "IPv6Bits") || user.ID != "" {
			t.Errorf("%d bits: %+v, %v", bits, user, err)
		}
	}
	if user, err := ByAddress(nil)(newRequest("@")); err == nil || errors.Is(err, ErrNobody) || user.ID != "" {
		t.Errorf("without an address: %+v, %v", user, err)
	}
}

// The zone of an account goes with each of its requests, and with the messages of its connections.
func TestIdentify_Timezone(t *testing.T) {
	guard := newEnforcingGuard(t, func(p *chatguard.Policy) {
		p.Limits = []chatguard.Limit{chatguard.DailyWindowLimit("daily", 3)}
	}, &chatguard.Options{Now: func() time.Time { return time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC) }})
	accounts := map[string]chatguard.User{
		"key of yuki": {ID: "yuki", Timezone: "Asia/Tokyo"}, "key of anna": {ID: "anna", Timezone: "America/Lima"}, "key of bob": {ID: "bob", Timezone: "Europe/Berln"},
	}
	identify := FirstOf(ByKey("X-Key", func(key string) (chatguard.User, bool) { user, ok := accounts[key]; return user, ok }), Anonymous)
	limited := mustLimit(t, guard, identify, &LimitOptions{Channel: func(*http.Request) string { return "api" }})(http.NotFoundHandler())
	in, err := Sessions(mustDoor(t, guard, connguard.Options{}), identify, nil)
	if err != nil {
		t.Fatal(err)
	}
	var last chatguard.Verdict
	connected := in(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if last, err = SessionFrom(r.Context()).Check(r.Context(), chatguard.Message{ChannelID: "lobby"}); err != nil {
			t.Error(err)
		}
	}))
	for key, hours := range map[string]int{"key of yuki": 3, "key of anna": 17, "key of bob": 12} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("X-Key", key)
		w := httptest.NewRecorder()
		limited.ServeHTTP(w, r)
		if got, want := w.Header().Get("RateLimit"), fmt.Sprintf(`"daily";r=2;t=%d`, hours*60*60); got != want {
			t.Errorf("%s: RateLimit: %s, want %s", key, got, want)
		}
		connected.ServeHTTP(httptest.NewRecorder(), r)
		if got := last.ResetAt.Sub(last.At); got != time.Duration(hours)*time.Hour {
			t.Errorf("%s: the day of a connection ends in %v, want %d h", key, got, hours)
		}
	}
}
