package access

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestKeyPair_ReadAgain checks that connections get a certificate that was renewed after the start.
// While only one of the two files is new, they get the one before, and one line says so.
func TestKeyPair_ReadAgain(t *testing.T) {
	dir := t.TempDir()
	site := Site{Listen: "127.0.0.1:0", TLSCert: filepath.Join(dir, "cert.pem"), TLSKey: filepath.Join(dir, "key.pem")}
	var log bytes.Buffer
	site.Log = slog.New(slog.NewTextHandler(&log, nil))
	written := time.Now()
	write := func(path string, data []byte) {
		t.Helper()
		written = written.Add(time.Second) // a file system may not tell two writes of one moment apart
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, written, written); err != nil {
			t.Fatal(err)
		}
	}
	cert1, key1 := selfSigned(t, 1)
	cert2, key2 := selfSigned(t, 2)
	write(site.TLSCert, cert1)
	write(site.TLSKey, key1)
	listener, err := site.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				_ = conn.(*tls.Conn).Handshake() // the client notices
				conn.Close()
			}()
		}
	}()
	certificate := CertificateOf(listener)
	problem := func(at time.Time, want string) {
		t.Helper()
		if got := certificate.Problem(at); got != want && (want == "" || !strings.Contains(got, want)) {
			t.Errorf("the problem is %q, want %q", got, want)
		}
	}
	check := func(want int64, warnings int) {
		t.Helper()
		conn, err := tls.Dial("tcp", listener.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if got := conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64(); got != want {
			t.Errorf("certificate %d, want %d", got, want)
		}
		if got := strings.Count(log.String(), "level=WARN"); got != warnings {
			t.Errorf("%d warnings, want %d:\n%s", got, warnings, log.String())
		}
	}
	check(1, 0)
	ends := certificate.Expires()
	problem(ends.Add(-expiresSoon), "")
	problem(ends.Add(1-expiresSoon), "it expires at "+ends.Format(time.RFC3339)+": renew it")
	problem(ends.Add(1), "it has expired at ")
	write(site.TLSCert, cert2)
	problem(ends.Add(-expiresSoon), "the new certificate can't be used (tls: private key does not match public key), and the previous one expires at ")
	check(1, 1)
	check(1, 1)
	write(site.TLSKey, key2)
	check(2, 1)
	problem(certificate.Expires().Add(-expiresSoon), "")
	if err := os.Remove(site.TLSKey); err != nil {
		t.Fatal(err)
	}
	check(2, 2)
	write(site.TLSCert, []byte("no certificate"))
	check(2, 3)
	write(site.TLSCert, append([]byte("\uFEFF"), cert1...)) // as editors of Windows write it
	write(site.TLSKey, key1)
	check(1, 3)
	write(site.TLSKey, bytes.Repeat([]byte("x"), len(key1)))
	check(1, 4)
	// What made the file unusable, such as its owner, can change without a change of time and size.
	stamp := written
	write(site.TLSKey, key1)
	if err := os.Chtimes(site.TLSKey, stamp, stamp); err != nil {
		t.Fatal(err)
	}
	check(1, 4)
	problem(certificate.Expires().Add(-expiresSoon), "")
}

// selfSigned returns a certificate with a serial number, and its key.
func selfSigned(t *testing.T, serial int64) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: inner})
}
