package httpguard

import (
	"net/http"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// newRequest returns a request from a peer. The hops are its X-Forwarded-For entries.
func newRequest(peer string, hops ...string) *http.Request {
	return &http.Request{RemoteAddr: peer, Header: http.Header{"X-Forwarded-For": hops}}
}

func TestClientAddress_TrustedProxiesOnly(t *testing.T) {
	trusted := &AddressOptions{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}}
	tests := []struct {
		request *http.Request
		want    string
	}{
		{newRequest("192.0.2.1:1234"), "192.0.2.1"},
		{newRequest("192.0.2.1:1234", "203.0.113.5"), "192.0.2.1"},
		{newRequest("10.1.1.1:1234"), "10.1.1.1"},
		{newRequest("203.0.113.5"), "203.0.113.5"}, // as set by layers that trust proxies
		{newRequest("2001:db8::1"), "2001:db8::1"},
		{newRequest("10.1.1.1:1234", ""), "10.1.1.1"},
		{newRequest("10.1.1.1:1234", "203.0.113.5,"), "203.0.113.5"},
		{newRequest("10.1.1.1:1234", "203.0.113.5, ", " ,, "), "203.0.113.5"},
		{newRequest("10.1.1.1:1234", ","), "10.1.1.1"},
		{newRequest("10.1.1.1:1234", "[2001:db8::5]"), "2001:db8::5"},
		{newRequest("10.1.1.1:1234", `"203.0.113.5"`), "203.0.113.5"},
		{newRequest("10.1.1.1:1234", `"[2001:db8::5]:4321"`), "2001:db8::5"},
		{newRequest("10.1.1.1:1234", `203.0.113.5, "[2001:db8::5]"`), "2001:db8::5"},
		{newRequest("10.1.1.1:1234", `"203.0.113.5`), "10.1.1.1"},
		{newRequest("10.1.1.1:1234", "[203.0.113.5]"), "10.1.1.1"},
		{newRequest("10.1.1.1:1234", "[2001:db8::5"), "10.1.1.1"},
		{newRequest("[64:ff9b::10.1.1.1]:1234", "203.0.113.5"), "64:ff9b::a01:101"}, // trust is by the address as it is
		{newRequest("10.1.1.1:1234", "10.3.3.3, 10.2.2.2"), "10.3.3.3"},
		{newRequest("10.1.1.1:1234", "203.0.113.5"), "203.0.113.5"},
		{newRequest("10.1.1.1:1234", "203.0.113.5, 198.51.100.7"), "198.51.100.7"},
		{newRequest("10.1.1.1:1234", "203.0.113.5", "10.2.2.2"), "203.0.113.5"},
		{newRequest("10.1.1.1:1234", "203.0.113.5:4321"), "203.0.113.5"},
		{newRequest("10.1.1.1:1234", "[2001:db8::5]:4321"), "2001:db8::5"},
		{newRequest("10.1.1.1:1234", "203.0.113.5, garbage, 10.2.2.2"), "10.2.2.2"},
		{newRequest("[::1]:1234", "garbage"), "::1"},
		{newRequest("[::ffff:10.1.1.1]:1234", "::ffff:203.0.113.5"), "203.0.113.5"},
		{newRequest("@", "203.0.113.5"), "invalid IP"},
	}
	for _, test := range tests {
		if got := ClientAddress(test.request, trusted).String(); got != test.want {
			t.Errorf("%s %v: %s, want %s", test.request.RemoteAddr, test.request.Header, got, test.want)
		}
	}
}

// A block of addresses has eight times the limit of one address, in both buckets of a cascade.
func TestBlockLimit(t *testing.T) {
	for _, test := range []struct{ one, want chatguard.Limit }{
		{chatguard.TokenBucketLimit("a", 5, 8*time.Second), chatguard.TokenBucketLimit("a", 40, time.Second)},
		{chatguard.CascadeLimit("a", 5, 8*time.Second, 2, 80*time.Second), chatguard.CascadeLimit("a", 40, time.Second, 16, 10*time.Second)},
		{chatguard.SlidingLogLimit("a", 200, time.Minute), chatguard.SlidingLogLimit("a", 1024, time.Minute)},
		{chatguard.Limit{}, chatguard.Limit{}},
	} {
		if got := blockLimit(test.one); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%+v, want %+v", got, test.want)
		}
	}
}
