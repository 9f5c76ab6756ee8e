package access

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"syscall"
)

// ErrInUse is the error for an address that another program uses.
var ErrInUse = errors.New("is in use by another program")

// Windows' equivalents of syscall.EADDRINUSE and syscall.EACCES. Other systems have no errors with
// these numbers.
const (
	windowsInUse    = syscall.Errno(10048)
	windowsReserved = syscall.Errno(10013) // Windows reserves ranges of ports for virtual machines
)

// Open listens at the Site's address, with TLS if it has a certificate. Connections beyond the
// limits are closed at once. The error is one line that names the address and the fix.
func (s Site) Open() (net.Listener, error) {
	certificate, err := s.loadCertificate()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", s.Listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE), errors.Is(err, windowsInUse):
		return nil, fmt.Errorf("%s %w: stop that one, or set [web] listen to another port", s.Listen, ErrInUse)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s needs more rights than this user has: set [web] listen to a port above 1023", s.Listen)
	case errors.Is(err, windowsReserved):
		return nil, fmt.Errorf("%s is reserved by Windows or another program: set [web] listen to another port", s.Listen)
	case err != nil:
		return nil, fmt.Errorf("[web] listen: %w", err)
	}
	return s.protect(listener.(*net.TCPListener), certificate), nil
}

// OpenOn is like Open, but uses a listener that another program opened. Set Listen to its address
// first. If OpenOn returns an error, it has closed the listener.
func (s Site) OpenOn(listener *net.TCPListener) (net.Listener, error) {
	certificate, err := s.loadCertificate()
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return s.protect(listener, certificate), nil
}

// protect limits the connections of a listener, and encrypts them if there is a certificate.
func (s Site) protect(listener *net.TCPListener, certificate *KeyPair) net.Listener {
	bounded := boundedListener{listener, newConnections(s)}
	if certificate == nil {
		return bounded
	}
	return tlsListener{tls.NewListener(bounded, &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return certificate.Current() },
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"http/1.1"}, // WebSockets need it
	}), certificate}
}

// tlsListener is a listener with its certificate.
type tlsListener struct {
	net.Listener
	certificate *KeyPair
}

// CertificateOf returns the certificate of a listener that a Site has opened. It returns nil if the
// listener has none.
func CertificateOf(listener net.Listener) *KeyPair {
	secure, _ := listener.(tlsListener)
	return secure.certificate
}

func (s Site) loadCertificate() (*KeyPair, error) {
	if s.TLSCert == "" {
		return nil, nil
	}
	certificate, err := LoadKeyPair(s.TLSCert, s.TLSKey, cmp.Or(s.Log, slog.Default()))
	if err != nil {
		return nil, fmt.Errorf("[web] tls_cert, tls_key: %w", err)
	}
	return certificate, nil
}
