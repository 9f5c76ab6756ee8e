package web

import (
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// at parses an address that is known to be one.
func at(address string) *url.URL {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	return u
}

func TestAPortInUseIsNamed(t *testing.T) {
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

func TestTLSIsServedAndMakesCookiesSecure(t *testing.T) {
	borrowed := httptest.NewTLSServer(nil)
	borrowed.Close()
	pair := borrowed.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write := func(name, kind string, content []byte) string {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	d := dash(t, func(o *Options) {
		o.Site.TLSCert = write("cert.pem", "CERTIFICATE", pair.Certificate[0])
		o.Site.TLSKey = write("key.pem", "PRIVATE KEY", key)
	})
	d.client = borrowed.Client() // trusts the certificate
	c := d.signedIn(map[string]string{"token": token}, func(r *http.Request) { r.URL.Scheme = "https" })
	if !c.Secure {
		t.Errorf("cookie %v", c)
	}
	if _, err := (Site{Listen: "127.0.0.1:0", TLSCert: "missing.pem", TLSKey: "missing.pem"}).Open(); err == nil || !strings.Contains(err.Error(), "missing.pem") {
		t.Errorf("a missing certificate: %v", err)
	}
}

func TestHostsThatAreKnown(t *testing.T) {
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
		{Site{Listen: "box.lan:8080", Token: token}, "BOX.lan:8080", true},
		{Site{Listen: "0.0.0.0:8080", Token: token}, "192.168.1.2:8080", true},
		{Site{Listen: "0.0.0.0:8080", Token: token}, "evil.example:8080", false},
		{Site{Listen: "127.0.0.1:8080", PublicURL: at("https://chat.example.org:444/")}, "chat.example.org:444", true},
	}
	for _, test := range tests {
		r := request("GET", "/")
		r.Host = test.host
		if got := test.site.knowsHost(r); got != test.known {
			t.Errorf("%q at %+v: known is %t", test.host, test.site, got)
		}
	}
}

func TestTheLinkIsForPeople(t *testing.T) {
	tests := []struct {
		site       Site
		addr, want string
	}{
		{Site{Listen: "127.0.0.1:8080"}, "", "http://127.0.0.1:8080/#signin=c"},
		{Site{Listen: "127.0.0.1:0"}, "127.0.0.1:4321", "http://127.0.0.1:4321/#signin=c"},
		{Site{Listen: ":8080", TLSCert: "c.pem"}, "[::]:8080", "https://127.0.0.1:8080/#signin=c"},
		{Site{Listen: "127.0.0.1:8080", PublicURL: at("https://chat.example.org/guard")}, "", "https://chat.example.org/guard/#signin=c"},
	}
	for _, test := range tests {
		if got := test.site.Link(test.addr, "c"); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}
