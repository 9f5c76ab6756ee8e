package httpguard

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

// newRequest returns a request from a peer. The hops are its X-Forwarded-For entries.
func newRequest(peer string, hops ...string) *http.Request {
	return &http.Request{RemoteAddr: peer, Header: http.Header{"X-Forwarded-For": hops}}
}

func TestClientAddress_TrustedProxiesOnly(t *testing.T) {
	trusted := &AddressOptions{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("fe80::/10")}}
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
		{newRequest("10.1.1.1:1234", "[203.0.113.5]"), "203.0.113.5"},
		{newRequest("10.1.1.1:1234", "[203.0.113.5]:4321"), "203.0.113.5"},
		{newRequest("10.1.1.1:1234", "[203.0.113.5]4321"), "10.1.1.1"},
		{newRequest("10.1.1.1:1234", "203.0.113.5:"), "10.1.1.1"},
		{newRequest("10.1.1.1:1234", "203.0.113.5:http"), "10.1.1.1"},
		{newRequest("10.1.1.1:1234", "203.0.113.5:123456"), "10.1.1.1"},
		{newRequest("10.1.1.1:1234", `"203.0.113.9, 203.0.113.5`), "203.0.113.5"}, // a client's quote
		{newRequest("[192.0.2.1]:1234"), "192.0.2.1"},
		{newRequest("[fe80::1%eth0]:1234", "203.0.113.5"), "203.0.113.5"}, // a link-local proxy
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

// headersFrom returns a request of a proxy with these headers, each as "name: value".
func headersFrom(lines ...string) *http.Request {
	r := newRequest("10.1.1.1:1234")
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	return r
}

// Only the header that the program has chosen counts, whatever else a client sends.
func TestClientAddress_Headers(t *testing.T) {
	const client, forged = "203.0.113.5", "198.51.100.66"
	all := func(line string) []string { // a client forges all headers; the proxy writes one
		lines := []string{line}
		for _, other := range []string{"X-Forwarded-For: " + forged, "X-Real-IP: " + forged, "Forwarded: for=" + forged} {
			if name, _, _ := strings.Cut(line, ":"); !strings.HasPrefix(other, name) {
				lines = append(lines, other)
			}
		}
		return lines
	}
	for _, test := range []struct {
		header  string
		request *http.Request
		want    string
	}{
		{"", headersFrom(all("X-Forwarded-For: " + client)...), client},
		{"x-forwarded-for", headersFrom(all("X-Forwarded-For: " + forged + ", " + client)...), client},
		{"", headersFrom("X-Real-IP: "+forged, "Forwarded: for="+forged), "10.1.1.1"},
		{"X-Real-IP", headersFrom(all("X-Real-IP: " + client)...), client},
		{"x-real-ip", headersFrom("X-Real-IP:  [2001:db8::5]:80 "), "2001:db8::5"},
		{"X-Real-IP", headersFrom("X-Real-IP: "+forged, "X-Real-IP: "+client), "10.1.1.1"}, // one of them is the client's
		{"X-Real-IP", headersFrom("X-Real-IP: " + forged + ", " + client), "10.1.1.1"},
		{"X-Real-IP", headersFrom("X-Real-IP: "), "10.1.1.1"},
		{"CF-Connecting-IP", headersFrom("X-Real-IP: "+forged, "CF-Connecting-IP: "+client), client},
		{"Forwarded", headersFrom(all("Forwarded: for=" + client)...), client},
		{"forwarded", headersFrom("Forwarded: for="+forged, "Forwarded: for="+client+";proto=https;by=10.1.1.1"), client},
		{"Forwarded", headersFrom(`Forwarded: by="[::1]:80"; For="[2001:db8::5]:4711"`), "2001:db8::5"},
		{"Forwarded", headersFrom(`Forwarded: for="203.0.113.5:_hidden", for=10.2.2.2,`), client},
		{"Forwarded", headersFrom("Forwarded: for=" + forged + ", for=unknown, for=10.2.2.2"), "10.2.2.2"},
		{"Forwarded", headersFrom("Forwarded: for=" + forged + ", for=_secret"), "10.1.1.1"},
		{"Forwarded", headersFrom("Forwarded: for=" + forged + ", proto=https"), "10.1.1.1"},
		{"Forwarded", headersFrom("Forwarded: for=" + forged + ";for=" + client), "10.1.1.1"},
		{"Forwarded", headersFrom(`Forwarded: for=` + forged + `;by=", for="` + client + `"`), client}, // the client left a quote open
		{"Forwarded", headersFrom(`Forwarded: for=`+forged+`;by="`, "Forwarded: for="+client), client},
		{"Forwarded", headersFrom(`Forwarded: for="203.0.113.5, for=` + forged), forged}, // as the proxy wrote it
	} {
		opts := &AddressOptions{Header: test.header, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
		if got := ClientAddress(test.request, opts).String(); got != test.want {
			t.Errorf("%s of %v: %s, want %s", test.header, test.request.Header, got, test.want)
		}
		test.request.RemoteAddr = "192.0.2.1:1234" // not a proxy
		if got := ClientAddress(test.request, opts).String(); got != "192.0.2.1" {
			t.Errorf("%s of a client's %v: %s", test.header, test.request.Header, got)
		}
	}
}

// A network of IPv4 addresses may be written as IPv4-mapped. No other IPv6 network has any.
func TestClientAddress_MappedProxies(t *testing.T) {
	for _, test := range []struct {
		proxies, peer, want string
	}{
		{"::ffff:10.0.0.0/104", "10.1.1.1:1234", "203.0.113.5"},
		{"::ffff:10.0.0.0/104", "[::ffff:10.1.1.1]:1234", "203.0.113.5"},
		{"::ffff:10.1.1.1/128", "10.1.1.1:1234", "203.0.113.5"},
		{"::ffff:10.0.0.0/104", "11.1.1.1:1234", "11.1.1.1"},
		{"::ffff:0.0.0.0/96", "11.1.1.1:1234", "203.0.113.5"},
		{"::ffff:10.0.0.0/8", "10.1.1.1:1234", "10.1.1.1"}, // bits of IPv4, by mistake
		{"::/0", "10.1.1.1:1234", "10.1.1.1"},
	} {
		opts := &AddressOptions{TrustedProxies: []netip.Prefix{netip.MustParsePrefix(test.proxies)}}
		r := newRequest(test.peer, "203.0.113.5")
		if got := ClientAddress(r, opts).String(); got != test.want {
			t.Errorf("%s of %s: %s, want %s", test.peer, test.proxies, got, test.want)
		}
		ours := FromNetworks(opts.TrustedProxies, nil)(r)
		if want := test.want == "203.0.113.5"; ours != want {
			t.Errorf("%s is in %s: %t", test.peer, test.proxies, ours)
		}
	}
}

func TestFromNetworks(t *testing.T) {
	proxies := &AddressOptions{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}
	isOurs := FromNetworks([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.0/28"), netip.MustParsePrefix("fe80::/10")}, proxies)
	for want, requests := range map[bool][]*http.Request{
		true:  {newRequest("192.0.2.1:1234"), newRequest("[64:ff9b::192.0.2.1]:1"), newRequest("[fe80::1%eth0]:1"), newRequest("10.1.1.1:1", "192.0.2.1"), newRequest("10.1.1.1:1", "10.2.2.2")},
		false: {newRequest("192.0.2.99:1234"), newRequest("192.0.2.99:1234", "192.0.2.1"), newRequest("10.1.1.1:1", "203.0.113.5"), newRequest("10.1.1.1:1", "garbage"), newRequest("10.1.1.1:1"), newRequest("@")},
	} {
		for _, r := range requests {
			if got := isOurs(r); got != want {
				t.Errorf("%s %v: %t", r.RemoteAddr, r.Header, got)
			}
		}
	}
}

// A client chooses neither its address nor none, whatever it writes before the proxy's entry.
func FuzzClientAddress(f *testing.F) {
	for _, seed := range []string{"", "198.51.100.66", `"`, `for="`, `for=198.51.100.66;by="`, `\`, ",", ";", "for=10.2.2.2", "10.2.2.2", "[::1]", `for="[::ffff:10.2.2.2%x]:1"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, forged string) {
		for header, written := range map[string]string{"X-Forwarded-For": "203.0.113.5", "Forwarded": `for=203.0.113.5;by="[::1]:80"`} {
			opts := &AddressOptions{Header: header, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
			for _, values := range [][]string{{forged + ", " + written}, {forged, written}} {
				r := &http.Request{RemoteAddr: "10.1.1.1:1234", Header: http.Header{header: values}}
				if got := ClientAddress(r, opts).String(); got != "203.0.113.5" {
					t.Errorf("%s: %q: %s", header, values, got)
				}
			}
		}
		r := &http.Request{RemoteAddr: forged, Header: http.Header{"X-Forwarded-For": {forged}, "X-Real-Ip": {forged}, "Forwarded": {forged}}}
		for _, header := range []string{"", "X-Real-IP", "Forwarded"} {
			opts := &AddressOptions{Header: header, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}}
			addr := ClientAddress(r, opts)
			if user, err := ByAddress(opts)(r); (err == nil) != addr.IsValid() || len(user.ID) > 56 {
				t.Errorf("%s: %q: %s is %q, %v", header, forged, addr, user.ID, err)
			}
		}
	})
}
