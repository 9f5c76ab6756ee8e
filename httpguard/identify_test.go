package httpguard

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
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
