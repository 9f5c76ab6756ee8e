package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/chatguard/chatguard/internal/hostile"
)

// windowsReset is the Windows equivalent of syscall.ECONNRESET. Other systems have no error of this
// number.
const windowsReset = syscall.Errno(10054)

const (
	tryTime    = 10 * time.Second // usual timeout of a request
	dialTime   = 5 * time.Second  // of connecting
	maxAnswer  = 4 << 10          // bytes of an answer that are read
	maxHeaders = 16 << 10         // bytes of an answer's headers
	maxExcerpt = 200              // characters of an answer that are shown
	mostWait   = time.Hour        // maximum wait that a server can ask for
)

// client sends requests to hooks. It uses no proxy, and follows no redirect.
type client struct {
	public, any *http.Client // public refuses private addresses, any doesn't
	now         func() time.Time
	timeout     time.Duration // of a request
}

// newClient returns a client. A nil resolver means the machine's.
func newClient(resolver *net.Resolver, now func() time.Time) *client {
	open := net.Dialer{Timeout: dialTime, Resolver: resolver}
	guarded := open
	guarded.Control = dialPublic
	return &client{newHTTPClient(&guarded), newHTTPClient(&open), now, tryTime}
}

func newHTTPClient(dialer *net.Dialer) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    dialTime,
			MaxResponseHeaderBytes: maxHeaders,
			DisableKeepAlives:      true, // events are rare, and an old connection may be dead
			DisableCompression:     true, // a small compressed answer could become a large one
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// fate says what happens to a delivery after a try.
type fate int

const (
	delivered fate = iota
	tryAgain
	undeliverable // another try would fail, too
	switchOff     // the server doesn't want the hook any more
)

// outcome is the result of a try.
type outcome struct {
	fate    fate
	status  int    // of the answer; 0 if there was none
	reason  string // why it failed, as a phrase for people; empty if it was delivered
	wait    time.Duration
	excerpt string // beginning of the answer
}

// since returns what the outcome of a request to the former hook means for the present one. If the
// address has changed, another try may succeed, whatever the former address has answered.
func (o outcome) since(then, now Hook) outcome {
	if o.fate != delivered && then.Address != now.Address {
		o.fate, o.wait = tryAgain, 0
	}
	return o
}

// send sends an event to a hook once.
func (c *client) send(ctx context.Context, h Hook, e *Event) outcome {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	body, err := h.Format.body(e)
	if err != nil {
		return outcome{fate: undeliverable, reason: hostile.Detail(err.Error())}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, string(h.Address), bytes.NewReader(body))
	if err != nil {
		return outcome{fate: undeliverable, reason: "the address is not a URL"} // the error has the address
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "chatguard")
	if h.Format == Signed {
		if err := h.Secret.sign(request.Header, e.ID, c.now(), body); err != nil {
			return outcome{fate: undeliverable, reason: "the secret can't be used: " + err.Error()}
		}
	}
	by := c.public
	if h.AllowPrivate {
		by = c.any
	}
	response, err := by.Do(request)
	if err != nil {
		return c.unanswered(h, err)
	}
	defer response.Body.Close()
	o := c.judge(h.Format, response)
	if !h.AllowPrivate {
		o.excerpt = excerpt(response.Body)
	}
	return o
}

// excerpt returns the beginning of an answer as one line. An answer that can't be read to the end
// counts as far as it was read.
func excerpt(answer io.Reader) string {
	text, _ := io.ReadAll(io.LimitReader(answer, maxAnswer))
	return hostile.OneLine(hostile.Visible(string(text)), maxExcerpt)
}

// unanswered returns the outcome of a request without an answer.
func (c *client) unanswered(h Hook, err error) outcome {
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err // without the address
	}
	o := outcome{fate: tryAgain}
	var private *privateError
	var unknown *net.DNSError
	var timeout net.Error
	var unreachable *net.OpError
	switch {
	case errors.As(err, &private):
		o.fate, o.reason = undeliverable, hostile.Detail(private.Error())
		if host := h.Address.Host(); !strings.Contains(host, private.host) {
			// without that address, which would tell people where internal machines are
			o.reason = hostile.Detail(host + " leads to an address that is not on the public internet" + allowPrivate)
		}
	case errors.As(err, &unknown) && unknown.IsNotFound:
		o.reason = "there is no server called " + h.Address.Host()
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		o.reason = fmt.Sprintf("the server didn't answer within %s", c.timeout)
	case errors.As(err, new(*tls.CertificateVerificationError)), errors.As(err, new(x509.HostnameError)):
		o.reason = "the server's certificate isn't valid: " + hostile.Detail(hostile.Visible(err.Error()))
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, windowsReset):
		o.reason = "the server closed the connection without an answer"
	case errors.As(err, &unknown):
		o.reason = "the name " + h.Address.Host() + " can't be looked up now"
	case errors.As(err, &unreachable):
		o.reason = "the server can't be reached: " + hostile.Detail(unreachable.Err.Error())
	default:
		o.reason = hostile.Detail(hostile.Visible(err.Error()))
	}
	return o
}

// judge returns the outcome that an answer stands for.
func (c *client) judge(format Format, r *http.Response) outcome {
	o := outcome{status: r.StatusCode, wait: c.askedWait(r)}
	said := strings.TrimSpace(strconv.Itoa(r.StatusCode) + " " + http.StatusText(r.StatusCode))
	o.reason = "the server answered " + said
	switch status := r.StatusCode; {
	case status >= 200 && status < 300:
		o.fate, o.reason = delivered, ""
	case status >= 300 && status < 400:
		o.fate, o.reason = undeliverable, o.reason+redirect(r)
	case status == http.StatusGone:
		o.fate = switchOff
	case format == Discord && (status == http.StatusUnauthorized || status == http.StatusNotFound):
		o.fate, o.reason = switchOff, "Discord doesn't know this webhook any more ("+said+")"
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests, status < 400, status >= 500:
		o.fate = tryAgain
	default:
		o.fate = undeliverable
	}
	return o
}

// redirect says where a redirect leads, without the part that may be secret.
func redirect(r *http.Response) string {
	to, err := r.Location()
	if err != nil || to.Host == "" {
		return ", which is not followed"
	}
	return hostile.Detail(hostile.Visible(", which leads to "+to.Scheme+"://"+to.Host)) + " and is not followed: enter the address that answers itself"
}

// askedWait returns how long the server asks to wait before the next request, at most mostWait. It
// reads Retry-After, or else Discord's headers if they say that no request is left.
func (c *client) askedWait(r *http.Response) time.Duration {
	text := r.Header.Get("Retry-After")
	if text == "" && r.Header.Get("X-RateLimit-Remaining") == "0" {
		text = r.Header.Get("X-RateLimit-Reset-After")
	}
	var wait time.Duration
	seconds, err := strconv.ParseFloat(text, 64)
	if at, timeErr := http.ParseTime(text); timeErr == nil {
		wait = at.Sub(c.now())
	} else if err == nil && seconds > 0 { // not NaN
		wait = time.Duration(min(seconds, mostWait.Seconds()) * float64(time.Second))
	}
	return min(max(wait, 0), mostWait)
}
