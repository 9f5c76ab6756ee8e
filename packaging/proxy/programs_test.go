//go:build proxy

package proxy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/programtest"
)

// startCaddy starts Caddy with the Caddyfile of this folder.
func startCaddy(t *testing.T, s *site) {
	text := s.configuration("Caddyfile", "127.0.0.1:8080", s.upstream)
	for _, host := range []string{"chat.example.org", "www.example.org"} {
		certificate := "/etc/ssl/" + host + ".pem /etc/ssl/private/" + host + ".key"
		text = change(t, text, "# tls "+certificate, "tls "+s.certificate+" "+s.key+" #")
	}
	_, port, _ := net.SplitHostPort(s.proxy)
	_, plain, _ := net.SplitHostPort(s.plain)
	text = fmt.Sprintf("{\n\tadmin off\n\thttps_port %s\n\thttp_port %s\n\tdefault_bind %s\n}\n",
		port, plain, loopback) + text
	path := s.write("Caddyfile", text)
	command := exec.Command("caddy", "run", "--config", path,
		"--adapter", "caddyfile")
	command.Env = append(os.Environ(), "XDG_CONFIG_HOME="+s.folder, "XDG_DATA_HOME="+s.folder)
	programtest.Start(t, command, "serving initial configuration")
}

// startNginx starts nginx with the nginx.conf of this folder as the configuration of a site.
func startNginx(t *testing.T, s *site) {
	text := s.configuration("nginx.conf", "127.0.0.1:8080", s.upstream,
		"listen 443 ", "listen "+s.proxy+" ", "listen 80;", "listen "+s.plain+";")
	for _, host := range []string{"chat.example.org", "www.example.org"} {
		text = change(t, text, "/etc/ssl/"+host+".pem", s.certificate)
		text = change(t, text, "/etc/ssl/private/"+host+".key", s.key)
	}
	var main strings.Builder
	if os.Getuid() == 0 {
		main.WriteString("user root;\n") // others can't enter the folder
	}
	main.WriteString("daemon off;\nworker_processes 1;\nerror_log stderr notice;\n")
	fmt.Fprintf(&main, "pid %s/pid;\nevents {}\nhttp {\naccess_log off;\n", s.folder)
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&main, "%s_temp_path %s/%s;\n", kind, s.folder, kind)
	}
	fmt.Fprintf(&main, "include %s;\n}\n", s.write("site.conf", text))
	command := exec.Command("nginx", "-e", "stderr", "-p", s.folder,
		"-c", s.write("main.conf", main.String()))
	programtest.Start(t, command, "start worker process ")
}

// change replaces a text, which must be there.
func change(t testing.TB, text, from, to string) string {
	t.Helper()
	if !strings.Contains(text, from) {
		t.Fatalf("no %q in\n%s", from, text)
	}
	return strings.ReplaceAll(text, from, to)
}

// newCertificate writes a self-signed certificate for the sites, and its key.
func newCertificate(t testing.TB, certificate, key string) *x509.Certificate {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "example.org"},
		DNSNames: []string{"*.example.org"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	must(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	for path, block := range map[string]*pem.Block{
		certificate: {Type: "CERTIFICATE", Bytes: der},
		key:         {Type: "PRIVATE KEY", Bytes: secret},
	} {
		must(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
	parsed, err := x509.ParseCertificate(der)
	must(t, err)
	return parsed
}
