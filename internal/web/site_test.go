//go:build !race

package web

import (
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/web/access"
)

func TestSite_TLS(t *testing.T) {
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
		o.Access.Site.TLSCert = write("cert.pem", "CERTIFICATE", pair.Certificate[0])
		o.Access.Site.TLSKey = write("key.pem", "PRIVATE KEY", key)
	})
	d.client = borrowed.Client() // it trusts the certificate
	c := d.signIn(map[string]string{"token": token}, func(r *http.Request) { r.URL.Scheme = "https" })
	if !c.Secure {
		t.Errorf("cookie %v", c)
	}
	if _, err := (access.Site{Listen: "127.0.0.1:0", TLSCert: "missing.pem", TLSKey: "missing.pem"}).Open(); err == nil || !strings.Contains(err.Error(), "missing.pem") {
		t.Errorf("a missing certificate: %v", err)
	}
}
