package redisstore

import (
	"cmp"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/chatguard/chatguard/shared"
)

// Options are the optional settings of a Store. A nil *Options is the same as the zero value.
type Options struct {
	// Username and Password authenticate this node. They replace what the URL says. The password is
	// never logged and never part of an error.
	Username, Password string
	// SentinelUsername and SentinelPassword authenticate this node to the Sentinels. Empty means
	// that the Sentinels ask for no password.
	SentinelUsername, SentinelPassword string
	// TLS configures rediss:// URLs: root certificates, client certificates. Nil means the system's
	// root certificates. With any other URL it is an error.
	TLS *tls.Config
	// Insecure allows a connection without TLS to another machine. Without it Open refuses such a
	// URL, because anybody on the network path could read the password, and read and change limits.
	Insecure bool

	// Namespace is the prefix of every key and of the Pub/Sub channel. Nodes share limits if they
	// have the same namespace. It consists of letters, digits, '_', '.' and '-'. Empty means "cg1".
	Namespace string
	// Placement says which rows share a slot of a Cluster. PlacementFor returns the one that
	// policies need.
	Placement Placement
	// Replicas is how many replicas should confirm a swap before Swap returns. Each swap then takes
	// another round trip, between the servers. A swap that too few confirm within half of the
	// remaining time still counts, and Health.Problem says so. If Run finds too few for three
	// seconds, swaps don't wait for them until there are enough again. Replicas isn't possible on a
	// Cluster. 0 means none.
	Replicas int

	// Node is the name of this node. It must differ from the names of all other nodes. It has up to
	// 100 letters, digits, '_', '.' and '-'. Empty means the host's name and a random part.
	Node string
	// Version is the version of the program that the other nodes see. Empty means the version of
	// this module.
	Version string
	// Describe, if not nil, sets what the Store can't know of this node: Address, MessagesPerSecond
	// and Overshoot. Run calls it once per second, and it must not block.
	Describe func(*shared.Node)

	// Timeout is how long a call waits for the server, including all retries. If nothing is
	// answered for twice as long, the store is away: calls then fail at once, until the server
	// answers again. Making a connection may take as long as Timeout, or 1 s if that is longer.
	// Timeout must be from 1 ms to 10 s. 0 means 100 ms.
	Timeout time.Duration
	// Interval is the time between two calls of the Guard's Exchange by Run. It must be from 20 ms
	// to 1 min. 0 means 500 ms.
	Interval time.Duration
	// NameOf returns what the people who run the program call an option, such as "Timeout" or
	// "TLS.RootCAs", or a Placement, such as "PlaceByUser". For "PlacementFor" it returns how to
	// find the right Placement. Errors, logs, Health.Problem and Findings then name what to change
	// in these words. Nil means the names of this package.
	NameOf func(name string) string
	// Logger receives outages and the problems of Health, and their end. Nil means slog.Default().
	Logger *slog.Logger
}

// The bounds of the options.
const (
	minTimeout, maxTimeout   = time.Millisecond, 10 * time.Second
	minInterval, maxInterval = 20 * time.Millisecond, time.Minute
	maxName                  = 100 // bytes of Node and Namespace
)

// withDefaults returns the options with all defaults, or an error that names the option to change.
func (o *Options) withDefaults() (Options, error) {
	c := *cmp.Or(o, &Options{})
	c.Namespace = cmp.Or(c.Namespace, "cg1")
	if err := checkName(c.nameOf("Namespace"), c.Namespace); err != nil {
		return c, err
	}
	if c.Placement < PlaceByUser || c.Placement > PlaceTogether {
		return c, fmt.Errorf("%s %d doesn't exist: use %s, %s or %s", c.nameOf("Placement"), c.Placement,
			c.nameOf(PlaceByUser.name()), c.nameOf(PlaceByChannel.name()), c.nameOf(PlaceTogether.name()))
	}
	if c.Replicas < 0 {
		return c, fmt.Errorf("%s is %d: set it to 0 or higher", c.nameOf("Replicas"), c.Replicas)
	}
	c.Timeout = cmp.Or(c.Timeout, 100*time.Millisecond)
	c.Interval = cmp.Or(c.Interval, 500*time.Millisecond)
	if err := checkDuration(c.nameOf("Timeout"), c.Timeout, minTimeout, maxTimeout); err != nil {
		return c, err
	}
	if err := checkDuration(c.nameOf("Interval"), c.Interval, minInterval, maxInterval); err != nil {
		return c, err
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	if c.Node == "" {
		c.Node = defaultNode()
	}
	if err := checkName(c.nameOf("Node"), c.Node); err != nil {
		return c, err
	}
	c.Version = cmp.Or(c.Version, moduleVersion())
	return c, nil
}

// user is the name that the server's rights are granted to.
func (o *Options) user() string { return cmp.Or(o.Username, "default") }

// nameOf returns what the people who run the program call an option or a Placement.
func (o *Options) nameOf(name string) string {
	switch {
	case o.NameOf != nil:
		return o.NameOf(name)
	case name == PlaceByUser.name(), name == PlaceByChannel.name(), name == PlaceTogether.name():
		return name
	case name == "PlacementFor":
		return "what PlacementFor returns"
	}
	return "Options." + name
}

// checkName refuses a name that would have to be escaped in keys, or that is too long.
func checkName(what, name string) error {
	if len(name) > maxName {
		return fmt.Errorf("%s has %d bytes: use up to %d", what, len(name), maxName)
	}
	if escape(name) != name {
		return fmt.Errorf("%s %q may only have letters, digits, '_', '.' and '-': remove the others", what, name)
	}
	return nil
}

func checkDuration(name string, d, least, most time.Duration) error {
	if d < least || d > most {
		return fmt.Errorf("%s is %s: set it from %s to %s, or to 0 for the default", name, d, least, most)
	}
	return nil
}

// complete adds what the URL says, and refuses combinations that would be unsafe or can't work.
func (o *Options) complete(a *address) error {
	o.Username, o.Password = cmp.Or(o.Username, a.username), cmp.Or(o.Password, a.password)
	switch {
	case o.TLS != nil && !a.tls:
		return errors.New(o.nameOf("TLS") + " is set, but the URL says redis: write rediss")
	case a.tls && o.TLS == nil:
		o.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	case o.Username != "" && o.Password == "":
		return fmt.Errorf("the user %q has no password: set %s", o.Username, o.nameOf("Password"))
	}
	if o.Replicas > 0 && a.kind == cluster {
		return errors.New(o.nameOf("Replicas") + " isn't possible on a Cluster: set it to 0")
	}
	for _, host := range a.hosts {
		if err := o.checkPlain(host); err != nil {
			return err
		}
	}
	return nil
}

// checkPlain refuses a connection without TLS to another machine.
func (o *Options) checkPlain(host string) error {
	if o.TLS == nil && !o.Insecure && !loopback(host) {
		return fmt.Errorf("%s is another machine, and the connection isn't encrypted: write rediss://, or allow it with %s", host, o.nameOf("Insecure"))
	}
	return nil
}

// defaultNode returns the host's name, shortened and with '-' in place of characters that a node's
// name can't have, and a random part.
func defaultNode() string {
	host, _ := os.Hostname() // empty if it isn't known
	host = strings.Map(func(c rune) rune {
		if c < 0x80 && plain(byte(c)) {
			return c
		}
		return '-'
	}, cmp.Or(host, "node"))
	return host[:min(len(host), maxName/2)] + "-" + strings.ToLower(rand.Text()[:6])
}

// moduleVersion returns the version of this module in the running program.
func moduleVersion() string {
	const module = "github.com/chatguard/chatguard"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, dep := range append(info.Deps, &info.Main) {
		if dep.Path == module {
			return dep.Version
		}
	}
	return ""
}

// listTimeout is how long reading a list may take. A list can be much longer than one row.
func (o *Options) listTimeout() time.Duration { return max(5*time.Second, o.Timeout) }

// minConnectTimeout is the lower bound of connectTimeout.
const minConnectTimeout = time.Second

// connectTimeout is how long making a connection, or examining the server in connect, may take. A
// connection that gets no answer for that long is closed.
func (o *Options) connectTimeout() time.Duration { return max(minConnectTimeout, o.Timeout) }
