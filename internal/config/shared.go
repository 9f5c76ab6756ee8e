package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Shared configures how several nodes share limits. With ShareOff, none of the other keys has an
// effect.
type Shared struct {
	Mode string `toml:"mode"` // ShareOff, ShareExact, ShareSynchronised or ShareShares
	// URL names the server of the shared store, as in package redisstore. It has no password.
	URL       string `toml:"url"`
	Namespace string `toml:"namespace"` // prefix of every key in the store
	// Node is the name of this node. Empty means the host's name and a random part.
	Node string `toml:"node"`
	// Timeout is the maximum time that a message waits for the store. Connecting gets at least 1 s.
	Timeout  time.Duration `toml:"timeout"`
	Interval time.Duration `toml:"interval"` // time between two exchanges with the store
	// Share is this node's part of every limit with ShareShares: above 0, up to 1.
	Share     float64 `toml:"share"`
	Replicas  int     `toml:"replicas"`  // replicas that should confirm each change
	Placement string  `toml:"placement"` // PlaceByUser, PlaceByChannel or PlaceTogether
	// TLSCA is the path of a PEM file with root certificates, resolved like Database. Empty means
	// the system's.
	TLSCA   string `toml:"tls_ca"`
	TLSCert string `toml:"tls_cert"` // path of a PEM file: this node's certificate; may be empty
	TLSKey  string `toml:"tls_key"`  // path of a PEM file; required with TLSCert
	// Insecure allows a connection to another machine without TLS.
	Insecure bool   `toml:"insecure"`
	Password Secret `toml:"password"` // of the store
	// SentinelPassword is that of the Sentinels. Empty means that they require none.
	SentinelPassword Secret `toml:"sentinel_password"`
	// TextKey is a text from which all nodes derive the same key of texts. Limits on repeated text
	// need it.
	TextKey Secret `toml:"text_key"`
}

// The ways of sharing limits.
const (
	ShareOff          = "off"          // each node has limits of its own
	ShareExact        = "exact"        // all nodes together allow what one alone would
	ShareSynchronised = "synchronised" // each node decides in memory, and they compare regularly
	ShareShares       = "shares"       // each node allows a part, without a shared store
)

// The placements of a user's rows on a Cluster; see package redisstore.
const (
	PlaceByUser    = "user"
	PlaceByChannel = "channel"
	PlaceTogether  = "together"
)

var (
	shareModes = []string{ShareOff, ShareExact, ShareSynchronised, ShareShares}
	storeModes = []string{ShareExact, ShareSynchronised} // the modes that need a shared store
	placements = []string{PlaceByUser, PlaceByChannel, PlaceTogether}
)

func defaultShared() Shared {
	return Shared{
		Mode: ShareOff, URL: "redis://127.0.0.1:6379", Namespace: "cg1", Timeout: 100 * time.Millisecond, Interval: 500 * time.Millisecond,
		Placement: PlaceByUser,
	}
}

// HasStore reports whether the nodes share a store.
func (s Shared) HasStore() bool { return slices.Contains(storeModes, s.Mode) }

// IsCluster reports whether the URL names a Cluster.
func (s Shared) IsCluster() bool {
	scheme, _, _ := strings.Cut(s.URL, "://")
	return strings.HasSuffix(scheme, "+cluster")
}

// checkNoPassword refuses a URL that has a password, or parameters that could be one. The error
// doesn't contain the URL.
func checkNoPassword(url string) error {
	if at := strings.LastIndexByte(url, '@'); at >= 0 {
		_, user, found := strings.Cut(url[:at], "://")
		if strings.ContainsAny(user, ":/") || !found {
			return errors.New("a password doesn't belong here: remove it, and put it in the environment variable CHATGUARD_SHARED_PASSWORD")
		}
	}
	if strings.ContainsAny(url, "?#") {
		return errors.New("parameters after ? or # aren't supported: remove them, and set the keys of [shared] instead; a password belongs in the environment variable CHATGUARD_SHARED_PASSWORD")
	}
	return nil
}

// storeSchemes are the schemes that a store's URL may have.
var storeSchemes = []string{"redis", "rediss", "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster"}

// usesTLS reports whether the URL asks for TLS.
func (s Shared) usesTLS() bool { return strings.HasPrefix(s.URL, "rediss") }

// checkSharedURL returns an error unless the store has a valid URL, with TLS if other machines
// could read the traffic.
func checkSharedURL(s Shared) error {
	if !s.HasStore() {
		return nil
	}
	scheme, rest, _ := strings.Cut(s.URL, "://")
	authority, _, _ := strings.Cut(rest, "/")
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	if !slices.Contains(storeSchemes, scheme) || authority == "" {
		return errors.New("this is not the URL of a store (want redis://host:6379, rediss://, redis+sentinel:// or redis+cluster://)") // the text may have a password
	}
	for host := range strings.SplitSeq(authority, ",") {
		if !s.usesTLS() && !s.Insecure && !isLoopback(host) && !isLoopback(host+":0") {
			return fmt.Errorf("%s is another machine, and the connection isn't encrypted: write rediss://, or set insecure = true in [shared]", host)
		}
	}
	return nil
}

func checkNamespace(name string) error {
	if name == "" || !isPlainName(name) {
		return fmt.Errorf("%q is not a namespace (want 1 to 100 letters, digits, _, . and -)", name)
	}
	return nil
}

func checkNode(name string) error {
	if !isPlainName(name) {
		return fmt.Errorf("%q is not the name of a node (want up to 100 letters, digits, _, . and -)", name)
	}
	return nil
}

// isPlainName reports whether a name has at most 100 characters, each of which stands for itself in
// a key.
func isPlainName(name string) bool {
	isOther := func(c rune) bool {
		return c != '_' && c != '.' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	}
	return len(name) <= 100 && !strings.ContainsFunc(name, isOther)
}

func checkShare(s Shared) error {
	switch {
	case s.Mode != ShareShares && s.Share == 0:
		return nil
	case s.Mode != ShareShares:
		return fmt.Errorf(`has no effect with mode = %q: remove it, or set mode = "shares"`, s.Mode)
	case s.Share > 0 && s.Share <= 1: // not NaN
		return nil
	}
	return fmt.Errorf("%v is not a part of the limits (want a number above 0, up to 1; 0.5 on each of two nodes)", s.Share)
}

// checkSharedInterval refuses an interval other than the default with ShareShares, because there is
// no store to exchange with.
func checkSharedInterval(s Shared) error {
	if s.Mode == ShareShares && s.Interval != defaultShared().Interval {
		return errors.New(`has no effect with mode = "shares": remove it`)
	}
	return nil
}

func checkSharedTLS(s Shared) error {
	if s.HasStore() && !s.usesTLS() && (s.TLSCA != "" || s.TLSCert != "") {
		return errors.New("certificates have no effect, because the url doesn't begin with rediss: write rediss://, or remove them")
	}
	return nil
}
