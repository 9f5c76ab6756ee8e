package app_test

import (
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/web/live"
)

// TestCertificate_NotRenewed checks that people and machines learn of a certificate that can't be
// used any more, and that the server counts as ready meanwhile.
func TestCertificate_NotRenewed(t *testing.T) {
	borrowed := httptest.NewTLSServer(nil)
	borrowed.Close()
	pair := borrowed.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	must(t, err)
	dir := t.TempDir()
	write := func(name, kind string, content []byte) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600))
		return path
	}
	c := config.Default()
	c.NoDatabase, c.Check.Channels, c.Web.Listen = true, []string{"lobby"}, "127.0.0.1:0"
	c.Web.TLSCert, c.Web.TLSKey = write("cert.pem", "CERTIFICATE", pair.Certificate[0]), write("key.pem", "PRIVATE KEY", key)
	a, err := app.Open(t.Context(), app.Options{Config: c, Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	defer a.Close()
	check := func(state, reason, line string) {
		t.Helper()
		if status, reasons := a.Web.Ready(); status != state || !strings.HasPrefix(strings.Join(reasons, "; "), reason) {
			t.Errorf("%s %q, want %s %q", status, reasons, state, reason)
		}
		if got := a.StatusLine(); got != line {
			t.Errorf("the status line is %q, want %q", got, line)
		}
	}
	check("ok", "", "observing in 1 channel")
	write("key.pem", "PRIVATE KEY", []byte("of another"))
	check("degraded", "Certificate: not renewed: the new certificate can't be used (", "observing in 1 channel; Certificate not renewed")
	for _, c := range a.Web.Connections() {
		if c.Name == "Certificate" && c.Channel != live.SeveralChannels {
			t.Error("moderators of a channel see the names of the certificate's files")
		}
	}
	write("key.pem", "PRIVATE KEY", key)
	check("ok", "", "observing in 1 channel")
}
