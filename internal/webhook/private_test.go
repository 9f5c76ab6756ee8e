package webhook

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

func TestIsPublic(t *testing.T) {
	for public, list := range map[bool]string{
		true: `1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 162.159.128.233
			168.63.129.15 169.253.255.255 172.15.255.255 172.32.0.0 191.255.255.255 192.167.255.255 198.17.255.255 198.20.0.0 223.255.255.255
			2606:4700::1111 2a00:1450:4001:82a::200e 64:ff9b::8.8.8.8 2002:808:808::1 ::ffff:8.8.8.8`,
		false: `0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 127.255.255.254 168.63.129.16
			169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1 192.168.0.1 192.168.255.255
			198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
			:: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:127.0.0.1
			64:ff9b::127.0.0.1 64:ff9b::10.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 2002:7f00:1:: 2002:a00:1::1 2002:c0a8:101::1
			100::1 2001::1 2001:0:7f00:1:: 2001:db8::1 3fff::1 5f00::1 fc00::1 fd00:ec2::254 fd12:3456::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1
			4000::1 2606:4700::1111%eth0`,
	} {
		for text := range strings.FieldsSeq(list) {
			if got := isPublic(netip.MustParseAddr(text)); got != public {
				t.Errorf("%s is public: %v", text, got)
			}
		}
	}
	if isPublic(netip.Addr{}) {
		t.Error("no address is public")
	}
}

func TestAddress_Refused(t *testing.T) {
	for address, want := range map[Address]string{
		"https://discord.com/api/webhooks/1/abc":             "",
		"https://[2606:4700::1111]:8443/x?y=z":               "",
		"http://example.com/x":                               "use https",
		"ftp://example.com/x":                                "not a URL",
		"https://":                                           "not a URL",
		"https:example.com":                                  "not a URL",
		"example.com/x":                                      "not a URL",
		"":                                                   "not a URL",
		"https://example.com/a b":                            "not a URL",
		"https://example.com\\@127.0.0.1/":                   "not a URL",
		"https://example.com/\r\nx: y":                       "not a URL",
		"https://user:secret@example.com/":                   "user or a password",
		"https://example.com@127.0.0.1/":                     "user or a password",
		"https://example.com/#x":                             "after #",
		"https://127.0.0.1/":                                 "public internet",
		"https://[::1]/":                                     "public internet",
		"https://[::ffff:10.0.0.1]/":                         "public internet",
		"https://169.254.169.254/latest/meta-data":           "public internet",
		"https://localhost/":                                 "public internet",
		"https://LOCALHOST./":                                "public internet",
		"https://a.localhost:8080/":                          "public internet",
		Address("https://a.de/" + strings.Repeat("x", 2000)): "too long",
	} {
		err := address.check(false)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%.60s: %v, want %q", address, err, want)
		}
	}
	for address, want := range map[Address]bool{"http://127.0.0.1:1/": true, "https://10.0.0.1/": true, "http://u@10.0.0.1/": false, "file:///etc": false} {
		if err := address.check(true); (err == nil) != want {
			t.Errorf("%s, with private ones allowed: %v", address, err)
		}
	}
}

func TestAddress_Hidden(t *testing.T) {
	for address, want := range map[Address]string{
		"https://discord.com/api/webhooks/123456789/aBcDeFgHiJkL": "https://discord.com/…iJkL",
		"https://example.com:8443/short":                          "https://example.com:8443/…",
		"https://example.com/hook?token=0123456789abcdef":         "https://example.com/…cdef",
		"%zz": "hidden",
	} {
		if got := address.String(); got != want {
			t.Errorf("%s is shown as %s, want %s", string(address), got, want)
		}
	}
}

// Numbers that some programs read as addresses are names for the dialer, and it asks the resolver.
// Whatever the resolver says, the address that is dialed counts.
func TestSend_NamesThatLeadInside(t *testing.T) {
	inside := serve(t)
	_, port, err := net.SplitHostPort(inside.Listener.Addr().String())
	must(t, err)
	names := newNameServer(t)
	c := newClient(names.resolver(), newFakeClock().Now)
	// The first look-up of the name that changes finds an address that is not a machine's, so that
	// nothing leaves this one. The second one finds this machine.
	names.set("changes.example.", [][]netip.Addr{{netip.MustParseAddr("192.0.2.7")}, {netip.MustParseAddr("127.0.0.1")}})
	names.set("several.example.", [][]netip.Addr{{netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("127.0.0.1")}})
	names.set("inside.example.", [][]netip.Addr{{netip.MustParseAddr("127.0.0.1")}})
	for _, host := range []string{"inside.example", "several.example", "changes.example", "changes.example", "127.0.0.1", "[::ffff:127.0.0.1]", "[::1]"} {
		h := to(inside)
		h.AllowPrivate = false
		h.Address = Address("http://" + host + ":" + port + "/hook")
		o := c.send(context.Background(), h, &Event{Kind: Test})
		if o.fate != undeliverable || o.status != 0 || !strings.Contains(o.reason, "public internet") || !strings.Contains(o.reason, "allow_private") {
			t.Errorf("%s: %+v", host, o)
		}
		if strings.Contains(host, "example") && strings.Contains(o.reason, ".0.0.1") {
			t.Errorf("%s: the reason has the address of an internal machine: %s", host, o.reason)
		}
	}
	if n := len(inside.requests); n > 0 {
		t.Errorf("%d requests have arrived", n)
	}
	h := to(inside)
	h.Address = Address("http://inside.example:" + port + "/hook")
	if o := c.send(context.Background(), h, &Event{Kind: Test}); o.fate != delivered || len(inside.requests) != 1 {
		t.Errorf("allowed: %+v", o)
	}
	h.Address = "http://missing.example/hook"
	if o := c.send(context.Background(), h, &Event{Kind: Test}); o.fate != tryAgain || o.reason != "there is no server called missing.example" {
		t.Errorf("without an address: %+v", o)
	}
}

func TestSend_IgnoresProxies(t *testing.T) {
	proxy, receiver := serve(t), serve(t)
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	for _, transport := range []http.RoundTripper{newClient(nil, newFakeClock().Now).any.Transport, newClient(nil, newFakeClock().Now).public.Transport} {
		if transport.(*http.Transport).Proxy != nil {
			t.Error("a proxy is used")
		}
	}
	c := newClient(nil, newFakeClock().Now)
	if o := c.send(context.Background(), to(receiver), &Event{Kind: Test}); o.fate != delivered || len(proxy.requests) > 0 {
		t.Errorf("%+v, and the proxy has %d requests", o, len(proxy.requests))
	}
}

func TestDialPublic_Unreadable(t *testing.T) {
	if err := dialPublic("tcp", "nonsense", nil); !errors.As(err, new(*privateError)) {
		t.Error(err)
	}
}
