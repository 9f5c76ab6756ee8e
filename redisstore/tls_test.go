package redisstore

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// authority signs the certificates of a test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	dir  string
	t    *testing.T
}

func newAuthority(t *testing.T) *authority {
	a := &authority{dir: t.TempDir(), t: t}
	a.issue("ca", nil)
	return a
}

// issue makes a certificate and writes it and its key to files.
func (a *authority) issue(name string, hosts []net.IP) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(a.t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: hosts,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if a.cert == nil {
		template.IsCA, template.BasicConstraintsValid, template.KeyUsage, template.ExtKeyUsage = true, true, x509.KeyUsageCertSign, nil
		a.cert, a.key = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	must(a.t, err)
	if a.cert == template {
		if a.cert, err = x509.ParseCertificate(der); err != nil {
			a.t.Fatal(err)
		}
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	must(a.t, err)
	for suffix, block := range map[string]*pem.Block{".crt": {Type: "CERTIFICATE", Bytes: der}, ".key": {Type: "PRIVATE KEY", Bytes: secret}} {
		must(a.t, os.WriteFile(a.file(name+suffix), pem.EncodeToMemory(block), 0o600))
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

func TestOpen_TLS(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	ca.issue("server", []net.IP{net.IPv4(127, 0, 0, 1)})
	client := ca.issue("client", nil)
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	r := startRedis(t, "--port", "0", "--tls-port", "PORT", "--tls-cert-file", ca.file("server.crt"), "--tls-key-file", ca.file("server.key"), "--tls-ca-cert-file", ca.file("ca.crt"), "--tls-auth-clients", "yes")
	url := "rediss://" + r.Addr()
	s := open(t, url, Options{TLS: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{client}}})
	check(t, s, one("a", "", "1"), true)
	run(t, s, &fakeGuard{})
	eventually(t, "the node is listed", func() bool { return s.Health().Nodes == 1 })
	checkFinding(t, (&diagnosis{server: s.server}).findEncryption(), OK, "is encrypted")
	// A connection that breaks may be the server's wish for a certificate, but not once it was used.
	for _, used := range []bool{false, true} {
		e := &explainer{options: &Options{TLS: &tls.Config{}}, address: &address{}}
		e.examined.Store(used && s.server.explain.examined.Load())
		if problem, _ := e.problem(io.EOF); strings.Contains(problem, "does it ask for a certificate?") == used {
			t.Errorf("used %v: %s", used, problem)
		}
	}
	for name, test := range map[string]struct {
		config *tls.Config
		want   string
	}{
		"unknown authority": {nil, "set Options.TLS.RootCAs"},
		"other name":        {&tls.Config{RootCAs: roots, ServerName: "cache.internal"}, "set Options.TLS.RootCAs"},
		"no certificate":    {&tls.Config{RootCAs: roots}, "set Options.TLS.Certificates"},
	} {
		var text string
		other, err := Open(t.Context(), url, &Options{TLS: test.config, Logger: quiet(), Timeout: patience})
		if err == nil { // the server's alert was lost
			text = other.Health().Problem
			other.Close()
		} else {
			text = err.Error()
		}
		if !strings.Contains(text, test.want) || err == nil && name != "no certificate" {
			t.Errorf("%s: %s", name, text)
		}
	}
	// Without TLS at one of both sides nothing works, and Health says where.
	plain := startRedis(t)
	for _, wrong := range []string{"redis://" + r.Addr(), "rediss://" + plain.Addr()} {
		other, err := Open(t.Context(), wrong, &Options{Logger: quiet()})
		if err != nil {
			continue // the server has answered something
		}
		if h := other.Health(); h.Up || !strings.Contains(h.Problem, "127.0.0.1") {
			t.Errorf("%+v", h)
		}
		other.Close()
	}
}
