//go:build proxy

package proxy

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/programtest"
)

// binary is the path of chatguard.
var binary string

// loopback is an address of this machine that no other program uses. So a free port of it stays
// free.
var loopback = fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(250), rand.IntN(250), 2+rand.IntN(250))

func TestMain(m *testing.M) {
	os.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin") // Debian's nginx is there
	browsertest.Resolve("example.org", loopback)
	os.Exit(run(m))
}

// run builds chatguard and runs the tests.
func run(m *testing.M) int {
	folder, err := os.MkdirTemp("", "chatguard")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	defer browsertest.Stop()
	binary = filepath.Join(folder, "chatguard")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", binary, "../../cmd/chatguard")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// site is a chatguard that is reached through a proxy.
type site struct {
	testing.TB
	host     string // in the browser's address
	path     string // below which chatguard is, with slashes
	url      string // as people open it
	origin   string // of its pages
	folder   string // with the configurations
	changes  []string
	checks   string // token for POST /check
	log      func() string
	cookie   *http.Cookie // of a session
	upstream string       // address of chatguard
	proxy    string       // address of the proxy
	plain    string       // address of the proxy without TLS

	certificate, key string // files
	roots            *x509.CertPool
	transport        *http.Transport
}

// newSite starts chatguard for a proxy at a host and a path.
func newSite(t *testing.T, host, path string) *site {
	t.Helper()
	folder := t.TempDir()
	s := &site{
		TB: t, host: host, path: path, folder: folder,
		upstream: freeAddress(t), proxy: freeAddress(t), plain: freeAddress(t),
		certificate: filepath.Join(folder, "cert.pem"), key: filepath.Join(folder, "key.pem"),
		roots: x509.NewCertPool(),
	}
	s.roots.AddCert(newCertificate(t, s.certificate, s.key))
	_, port, _ := net.SplitHostPort(s.proxy)
	s.origin = "https://" + host + ":" + port
	s.url = s.origin + path
	s.from("")
	configuration := s.write("chatguard.toml", fmt.Sprintf(`
[check]
channels = ["lobby"]
[web]
listen = %q
public_url = %q
trusted_proxies = ["127.0.0.1"]
`, s.upstream, s.url))
	command := exec.Command(binary, "run", "--config", configuration)
	// Guesses at the token are limited.
	command.Env = append(os.Environ(), "CHATGUARD_WEB_TOKEN=a-token-of-the-owner")
	s.log = programtest.Start(t, command, "Dashboard: ").Output
	s.checks = s.chatguard("token", "make", "server", "--role", "check")
	return s
}

// given are the addresses that freeAddress has returned. The system may offer one again before its
// program listens.
var given sync.Map

// freeAddress returns an address that no program uses, each time another one.
func freeAddress(t *testing.T) string {
	t.Helper()
	for {
		listener, err := net.Listen("tcp", loopback+":0")
		must(t, err)
		address := listener.Addr().String()
		must(t, listener.Close())
		if _, again := given.LoadOrStore(address, true); !again {
			return address
		}
	}
}

// chatguard runs a command beside the running chatguard, and returns what it prints.
func (s *site) chatguard(args ...string) string {
	s.Helper()
	args = append(args, "--config", filepath.Join(s.folder, "chatguard.toml"))
	command := exec.CommandContext(s.Context(), binary, args...)
	out, err := command.Output()
	if err != nil {
		s.Fatalf("chatguard %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// configuration returns a file of this folder with the changes of the setup and of the test, which
// are pairs of old and new text.
func (s *site) configuration(name string, changes ...string) string {
	s.Helper()
	text, err := os.ReadFile(name)
	must(s, err)
	changes = append(changes, s.changes...)
	for i := 0; i < len(changes); i += 2 {
		text = []byte(change(s.TB, string(text), changes[i], changes[i+1]))
	}
	return string(text)
}

// write writes a file for this site, and returns its path.
func (s *site) write(name, text string) string {
	s.Helper()
	path := filepath.Join(s.folder, name)
	must(s, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// from makes the following requests come from an address of this machine. Empty means any.
func (s *site) from(address string) {
	s.transport = s.newTransport()
	s.transport.ForceAttemptHTTP2 = true
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(cmp.Or(address, "127.0.0.1"))}}
	s.transport.DialContext = func(ctx context.Context, network, to string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, s.resolve(to))
	}
}

// newTransport returns a transport that reaches the proxy by its host name.
func (s *site) newTransport() *http.Transport {
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: s.roots},
		DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, s.resolve(to))
		},
	}
	s.Cleanup(transport.CloseIdleConnections)
	return transport
}

// resolve returns the address behind a host name.
func (s *site) resolve(to string) string {
	return strings.Replace(to, s.host, loopback, 1)
}

// answer is an answer with its body.
type answer struct {
	*http.Response
	body string
}

// get requests an address below the site's.
func (s *site) get(below string, headers ...string) *answer {
	s.Helper()
	return s.do("GET", s.url+below, "", headers...)
}

// do sends a request with headers, which are pairs of name and value. It follows redirects within
// TLS.
func (s *site) do(method, address, body string, headers ...string) *answer {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, address, strings.NewReader(body))
	must(s, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	r.Host = r.Header.Get("Host")
	redirect := func(_ *http.Request, via []*http.Request) error {
		if via[0].URL.Scheme == "http" {
			return http.ErrUseLastResponse
		}
		return nil
	}
	client := &http.Client{Transport: s.transport, CheckRedirect: redirect}
	response, err := client.Do(r)
	must(s, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(s, err)
	return &answer{response, string(text)}
}

// expect checks an answer's status, and that its body or its type contains a text.
func (s *site) expect(a *answer, status int, text string) {
	s.Helper()
	if a.StatusCode != status || !strings.Contains(a.Header.Get("Content-Type")+a.body, text) {
		s.Errorf("%s %s: %s %s, want %d %s",
			a.Request.Method, a.Request.URL, a.Status, a.body, status, text)
	}
}
