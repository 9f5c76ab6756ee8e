package redisstore

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// address is what the URL of a store says.
type address struct {
	tls                bool
	kind               kind
	username, password string
	hosts              []string // host:port
	primary            string   // its name, if the hosts are Sentinels
	database           int
}

// kind is how the servers are arranged.
type kind int

const (
	single kind = iota
	sentinel
	cluster
)

// schemes lists the supported beginnings of a URL.
var schemes = map[string]address{
	"redis":           {},
	"rediss":          {tls: true},
	"redis+sentinel":  {kind: sentinel},
	"rediss+sentinel": {kind: sentinel, tls: true},
	"redis+cluster":   {kind: cluster},
	"rediss+cluster":  {kind: cluster, tls: true},
}

// parseURL reads a URL such as rediss://user@cache.internal:6379/0. Its errors never contain the
// password. Package net/url can't be used because there may be several hosts.
func parseURL(text string) (address, error) {
	scheme, rest, found := strings.Cut(text, "://")
	a, known := schemes[strings.ToLower(scheme)]
	if !found || !known {
		return a, fmt.Errorf("the URL %s must begin with redis://, rediss://, redis+sentinel:// or redis+cluster://", redacted(text))
	}
	if strings.ContainsAny(rest, "?#") {
		return a, fmt.Errorf("the URL %s has parameters after ? or #: remove them (in a password, write %%3F and %%23)", redacted(text))
	}
	authority, path, _ := strings.Cut(rest, "/")
	if strings.Contains(path, "@") {
		return a, fmt.Errorf("the URL %s has a / before the @: write %%2F", redacted(text))
	}
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		name, secret, _ := strings.Cut(authority[:at], ":")
		var err1, err2 error
		a.username, err1 = url.PathUnescape(name)
		a.password, err2 = url.PathUnescape(secret)
		if err1 != nil || err2 != nil {
			return a, fmt.Errorf("the user or password in the URL %s isn't %%-encoded correctly: write %% as %%25 and @ as %%40", redacted(text))
		}
		authority = authority[at+1:]
	}
	for host := range strings.SplitSeq(authority, ",") {
		complete, ok := hostPort(host, a.kind)
		if !ok {
			return a, fmt.Errorf("the URL %s doesn't have a host and port after ://", redacted(text))
		}
		a.hosts = append(a.hosts, complete)
	}
	return a, a.parsePath(text, path)
}

// parsePath reads what follows the hosts: the primary's name, or the number of a database.
func (a *address) parsePath(text, path string) error {
	switch a.kind {
	case sentinel:
		if path == "" {
			return fmt.Errorf("the URL %s doesn't name the primary: write redis+sentinel://host:26379/name", redacted(text))
		}
		a.primary = path
	case cluster:
		if path != "" && path != "0" {
			return fmt.Errorf("the URL %s names a database, and a Cluster only has 0: remove it", redacted(text))
		}
	default:
		if len(a.hosts) > 1 {
			return fmt.Errorf("the URL %s has several hosts: write redis+sentinel:// or redis+cluster://", redacted(text))
		}
		if path == "" {
			return nil
		}
		number, err := strconv.Atoi(path)
		if err != nil || number < 0 {
			return fmt.Errorf("the URL %s must end with the number of a database, such as /0", redacted(text))
		}
		a.database = number
	}
	return nil
}

// hostPort adds the usual port to a host without one.
func hostPort(host string, k kind) (complete string, ok bool) {
	port := "6379"
	if k == sentinel {
		port = "26379"
	}
	name := host
	if h, p, err := net.SplitHostPort(host); err == nil {
		name, port = h, p
	} else {
		name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	}
	if _, err := netip.ParseAddr(name); err != nil && strings.Contains(name, ":") {
		return "", false
	}
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 || name == "" || strings.ContainsAny(name, " /[]?#@=&;") {
		return "", false
	}
	return net.JoinHostPort(name, port), true
}

// redacted returns the scheme and the hosts of a URL, which may be wrong in any way. Everything
// that could be part of a password is replaced.
func redacted(text string) string {
	scheme, rest, found := strings.Cut(text, "://")
	if found = found && !strings.ContainsAny(scheme, "@:/?#="); !found {
		rest = text
	}
	shown := redactedHosts(rest)
	if !found {
		return strconv.Quote(shown)
	}
	return scheme + "://" + shown
}

// redactedHosts returns the hosts that a URL without its scheme begins with.
func redactedHosts(rest string) string {
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, more := rest[:end], rest[end:]
	if strings.Contains(more, "@") { // the password may begin in authority
		return "…"
	}
	at := strings.LastIndexByte(authority, '@')
	hosts := authority[at+1:]
	for host := range strings.SplitSeq(hosts, ",") {
		if _, ok := hostPort(host, single); !ok {
			hosts = "…"
			break
		}
	}
	if at >= 0 {
		hosts = "***@" + hosts
	}
	if more != "" && more != "/" {
		hosts += more[:1] + "…"
	}
	return hosts
}

// loopback reports whether host:port is on this machine.
func loopback(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
