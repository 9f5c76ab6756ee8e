package redisstore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/redis/rueidis"
)

// errClosed is the error of all calls after Close.
var errClosed = errors.New("the Store is closed")

// refusal is an error that lasts until somebody changes the configuration, here or at the server.
type refusal struct{ text string }

// Error implements error.
func (r *refusal) Error() string { return r.text }

// explainer says in one line why the server can't be used and what to do.
type explainer struct {
	options *Options
	address *address
	where   string // the hosts, for people
	// pastSentinels is set when the client connects to another host than those of the URL. If these
	// are Sentinels, they have answered.
	pastSentinels atomic.Bool
	examined      atomic.Bool // the server could be used once
}

// replyCode returns the first word of an error that the server has sent, such as NOPERM, and ERR if
// it has none. Servers hide it in a sentence if the error occurred in a script.
func replyCode(err error) string {
	reply, ok := rueidis.IsRedisErr(err)
	if !ok {
		return ""
	}
	text := strings.TrimPrefix(reply.Error(), "ERR ") // the client has removed it too
	if strings.HasPrefix(text, "The user executing the script can't") || strings.HasPrefix(text, "ACL failure in script") {
		return "NOPERM"
	}
	if strings.HasPrefix(text, "Error running script") {
		for _, inner := range []string{"WRONGTYPE", "OOM", "READONLY", "NOPERM", "MISCONF", "NOREPLICAS"} {
			if strings.Contains(text, inner+" ") {
				return inner
			}
		}
	}
	code, _, _ := strings.Cut(text, " ")
	if code == "" || strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "ERR"
	}
	return code
}

// passing reports whether a reply means that the server will answer soon, or another one will.
func passing(code string) bool { return slices.Contains(passingCodes, code) }

var (
	passingCodes = []string{"LOADING", "READONLY", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "MOVED", "ASK", "BUSY", "NOREPLICAS"}
	// misconfigured are the replies that mean that the configuration is wrong, here or at the
	// server. Everything else may end by itself, or by what an operator does at the server.
	misconfigured = []string{"WRONGPASS", "NOAUTH", "NOPERM", "WRONGTYPE", "CROSSSLOT"}
)

// noWrites reports whether a reply means that the server answers, but makes no changes for now.
func noWrites(code string) bool { return code == "OOM" || code == "MISCONF" }

// reply says in a sentence what a reply means and what to do. It returns false if the reply
// needs no other words than its own.
func (e *explainer) reply(code, text string) (sentence string, ok bool) {
	if e.address.kind == sentinel && !e.pastSentinels.Load() {
		switch code {
		case "WRONGPASS":
			return "the Sentinels don't accept the password: correct " + e.options.nameOf("SentinelPassword"), true
		case "NOAUTH":
			return "the Sentinels ask for a password: set " + e.options.nameOf("SentinelPassword"), true
		}
	}
	sentence, ok = map[string]string{
		"WRONGPASS":   "the user name or password is wrong: correct " + e.options.nameOf("Password") + ", or " + e.options.nameOf("Username"),
		"NOAUTH":      "the server asks for a password: set " + e.options.nameOf("Password"),
		"NOPERM":      fmt.Sprintf("the user %q lacks rights%s: grant those that docs/scaling.md lists under TLS and rights", e.options.user(), lacking(text)),
		"OOM":         "the server's memory is full: raise maxmemory",
		"READONLY":    "the server is a replica: name the primary, or use redis+sentinel://",
		"WRONGTYPE":   "a key has another type: delete it at the server",
		"LOADING":     "the server is still loading its data: wait, it answers by itself",
		"MOVED":       partOfCluster,
		"CROSSSLOT":   partOfCluster,
		"CLUSTERDOWN": "the Cluster is down, because not all slots are served: start its missing servers",
		"MISCONF":     "the server can't save its data and refuses writes: see its log",
		"NOREPLICAS":  "the server has fewer replicas than min-replicas-to-write: connect replicas, or lower it",
		"BUSY":        "a script keeps the server busy: end it with SCRIPT KILL",
		"MASTERDOWN":  "the server is a replica that has lost its primary: start the primary",
	}[code]
	return sentence, ok
}

// lacking returns what a user may not do, in the words of a NOPERM reply: " to run the 'get'
// command". It is empty if the reply doesn't tell.
func lacking(text string) string {
	for _, before := range []string{"ermissions to ", "script can't "} { // of Redis 6.2 to 8; of 7.0 in a script
		if _, what, ok := strings.Cut(text, before); ok {
			what, _, _ = strings.Cut(what, " script:")
			return " to " + printable(what)
		}
	}
	return ""
}

const partOfCluster = "the server is part of a Cluster: write redis+cluster://"

// otherProgram says that no node has written the format of the namespace.
func (o *Options) otherProgram() string {
	return "another program uses keys that begin with " + o.Namespace + ": set another namespace"
}

// problem describes in one line why the server can't be used. lasting reports whether the
// configuration is wrong, here or at the server.
func (e *explainer) problem(err error) (line string, lasting bool) {
	var refused *refusal
	var certificate *tls.CertificateVerificationError
	var alert *net.OpError
	var record tls.RecordHeaderError
	var notMade *dialError
	var late *noAnswer
	var ours *storeError
	if errors.As(err, &ours) {
		return ours.text, false
	}
	code := replyCode(err)
	sentence, known := e.reply(code, fmt.Sprint(err))
	switch {
	case errors.As(err, &refused):
		line, lasting = refused.text, true
	case known:
		line, lasting = sentence, slices.Contains(misconfigured, code)
	case code != "" && strings.Contains(err.Error(), "DB index"):
		line, lasting = fmt.Sprintf("the server has no database %d: set a smaller number after the / of the URL", e.address.database), true
	case e.address.kind == sentinel && strings.Contains(strings.ToLower(err.Error()), "unknown command 'sentinel'"):
		line, lasting = "the server isn't a Sentinel: write redis://, or the host and port of a Sentinel", true
	case code != "":
		line = "the server refuses: " + printable(e.withoutPasswords(err.Error())) + ": look this reply up in the server's documentation"
	case errors.As(err, &certificate):
		line, lasting = fmt.Sprintf("the server's certificate isn't accepted (%v): set %s", certificate.Err, e.options.nameOf("TLS.RootCAs")), true
	case errors.As(err, &alert) && alert.Op == "remote error":
		line, lasting = fmt.Sprintf("the server refuses the TLS connection (%v): set %s", alert.Err, e.options.nameOf("TLS.Certificates")), true
	case errors.As(err, &record):
		line, lasting = "the server doesn't speak TLS: write redis:// or another port", true
	case e.wantsCertificate(err):
		line = fmt.Sprintf("the server closes the TLS connection (%v): does it ask for a certificate? set %s", err, e.options.nameOf("TLS.Certificates"))
	case strings.HasPrefix(err.Error(), "received unknown message type"):
		line, lasting = "the server doesn't speak the protocol of Redis: correct the host or port", true
	case errors.Is(err, errNoHandshake):
		line = "no answer to the TLS handshake: does this port speak TLS? If not, write another port, or redis://"
	case errors.As(err, &notMade), errors.As(err, &late):
		line = e.reason(err)
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err): // of a connection
		line = fmt.Sprintf("no answer within %s: is the server running and reachable?", e.options.connectTimeout())
	default:
		line = e.reason(err)
	}
	return e.where + ": " + line, lasting
}

// withoutPasswords returns a server's text without the passwords. Some servers repeat a command
// that they don't know, and its arguments.
func (e *explainer) withoutPasswords(text string) string {
	for _, password := range []string{e.options.Password, e.options.SentinelPassword} {
		if password != "" {
			text = strings.ReplaceAll(text, password, "…")
		}
	}
	return text
}

// wantsCertificate reports whether an error may be the server's answer to a missing certificate.
// The server's alert doesn't arrive while this node is still sending.
func (e *explainer) wantsCertificate(err error) bool {
	closed := errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF)
	return closed && !e.examined.Load() && e.options.TLS != nil && len(e.options.TLS.Certificates) == 0 && e.options.TLS.GetClientCertificate == nil
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// errNoHandshake means that the server doesn't answer the TLS handshake.
var errNoHandshake = errors.New("no answer to the TLS handshake")

// reason says why there is no connection, or no answer, without the server's address.
func (e *explainer) reason(err error) string {
	var name *net.DNSError
	var op *net.OpError
	var call *os.SyscallError
	var late *noAnswer
	var text string
	switch {
	case errors.As(err, &late):
		text = late.Error()
	case errors.As(err, &name) && name.IsNotFound:
		return fmt.Sprintf("no such host %s: correct the host in the URL, or the DNS", name.Name)
	case errors.As(err, &call):
		text = call.Err.Error()
	case errors.As(err, &op):
		text = op.Err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		text = "no answer in time"
	default:
		text = strings.ReplaceAll(err.Error(), e.where+": ", "")
	}
	if errors.As(err, &op) && op.Op == "dial" && op.Addr != nil && op.Addr.String() != e.where {
		text = op.Addr.String() + ": " + text // one of several hosts
	}
	return text + ": is the server running and reachable?"
}
