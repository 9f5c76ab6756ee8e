package access

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/textfile"
)

// KeyPair is a certificate and its key in two files, which are read again when they have changed.
// If the new files can't be used, for example because only one of them is new, the previous pair
// stays in use. It is safe for concurrent use. Create one with LoadKeyPair.
type KeyPair struct {
	cert, key string
	log       *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	seen    [2]stamp // of both files when they were last read
	failed  string   // why the files can't be used now; empty if they are in use
}

// stamp changes whenever a file is replaced or written.
type stamp struct {
	at   time.Time
	size int64
	is   bool // whether there is a file
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size(), true}
}

// LoadKeyPair reads a certificate chain and its key in PEM format. log receives later problems.
func LoadKeyPair(cert, key string, log *slog.Logger) (*KeyPair, error) {
	p := &KeyPair{cert: cert, key: key, log: log, seen: [2]stamp{stampOf(cert), stampOf(key)}}
	pair, err := readKeyPair(cert, key)
	p.current = &pair
	return p, err
}

func readKeyPair(cert, key string) (pair tls.Certificate, err error) {
	var blocks [2][]byte
	for i, path := range []string{cert, key} {
		if blocks[i], err = os.ReadFile(path); err != nil {
			return pair, err
		}
		if blocks[i], err = textfile.Trim(blocks[i]); err != nil {
			return pair, fmt.Errorf("%s: %w", path, err)
		}
	}
	return tls.X509KeyPair(blocks[0], blocks[1])
}

// Current returns the pair. It looks at the files, so call it once for each connection.
func (p *KeyPair) Current() (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := [2]stamp{stampOf(p.cert), stampOf(p.key)}
	if seen == p.seen && p.failed == "" { // after a failure, permissions may have changed
		return p.current, nil
	}
	pair, err := readKeyPair(p.cert, p.key)
	if err != nil {
		if why := hostile.VisibleLine(err.Error()); seen != p.seen || why != p.failed {
			p.failed = why
			p.log.Warn("the new certificate can't be used; the previous one stays in use", "file", p.cert, "key", p.key, "error", why)
		}
		p.seen = seen
		return p.current, nil
	}
	p.seen = seen
	p.current, p.failed = &pair, ""
	p.log.Info("read the certificate again", "file", p.cert)
	return p.current, nil
}

// Expires returns when the certificate in use expires.
func (p *KeyPair) Expires() time.Time {
	pair, _ := p.Current() // it has no error
	return pair.Leaf.NotAfter
}

// expiresSoon is how long before its expiry a certificate should have been renewed. The
// shortest-lived certificates are valid for 6 days and are renewed every 3 days.
const expiresSoon = 48 * time.Hour

// Problem returns why the certificate needs attention, or "" if it doesn't.
func (p *KeyPair) Problem(now time.Time) string {
	ends := p.Expires()
	p.mu.Lock()
	failed := p.failed
	p.mu.Unlock()
	end := "expires at " + ends.UTC().Format(time.RFC3339)
	if now.After(ends) {
		end = "has expired at " + ends.UTC().Format(time.RFC3339)
	}
	switch {
	case failed != "":
		return fmt.Sprintf("the new certificate can't be used (%s), and the previous one %s: correct tls_cert and tls_key", failed, end)
	case ends.Sub(now) < expiresSoon:
		return fmt.Sprintf("it %s: renew it", end)
	}
	return ""
}
