package access

import (
	"net"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// parseURL parses a valid URL.
func parseURL(address string) *url.URL {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	return u
}

func TestSite_PortInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	_, err = Site{Listen: address}.Open()
	if err == nil || !strings.Contains(err.Error(), address+" is in use") || !strings.Contains(err.Error(), "[web] listen") {
		t.Errorf("error %v", err)
	}
}

func TestSite_KnownHosts(t *testing.T) {
	tests := []struct {
		site  Site
		host  string
		known bool
	}{
		{Site{Listen: "127.0.0.1:8080"}, "localhost:8080", true},
		{Site{Listen: "127.0.0.1:8080"}, "[::1]:8080", true},
		{Site{Listen: "127.0.0.1:8080"}, "192.168.1.2:8080", false},
		{Site{Listen: "127.0.0.1:8080"}, "localhost.evil.example", false},
		{Site{Listen: "127.0.0.1:8080"}, "", false},
		{Site{Listen: "box.lan:8080", Token: siteToken}, "BOX.lan:8080", true},
		{Site{Listen: "0.0.0.0:8080", Token: siteToken}, "192.168.1.2:8080", true},
		{Site{Listen: "0.0.0.0:8080", Token: siteToken}, "evil.example:8080", false},
		{Site{Listen: "127.0.0.1:8080", PublicURL: parseURL("https://chat.example.org:444/")}, "chat.example.org:444", true},
	}
	for _, test := range tests {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = test.host
		if got := test.site.isKnownHost(r); got != test.known {
			t.Errorf("%q at %+v: known is %t", test.host, test.site, got)
		}
	}
}

func TestSite_Link(t *testing.T) {
	tests := []struct {
		site       Site
		addr, want string
	}{
		{Site{Listen: "127.0.0.1:8080"}, "", "http://127.0.0.1:8080/#signin=c"},
		{Site{Listen: "127.0.0.1:0"}, "127.0.0.1:4321", "http://127.0.0.1:4321/#signin=c"},
		{Site{Listen: ":8080", TLSCert: "c.pem"}, "[::]:8080", "https://127.0.0.1:8080/#signin=c"},
		{Site{Listen: "127.0.0.1:8080", PublicURL: parseURL("https://chat.example.org/guard")}, "", "https://chat.example.org/guard/#signin=c"},
	}
	for _, test := range tests {
		if got := test.site.Link(test.addr, "c"); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}
