package node

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/textfile"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/redisstore"
)

// optionsOf returns the options of the shared store of a configuration.
func optionsOf(c config.Config, log *slog.Logger) (opts redisstore.Options, err error) {
	s := c.Shared
	opts = redisstore.Options{
		Logger: log, NameOf: optionName,
		Password: string(s.Password), SentinelPassword: string(s.SentinelPassword), Insecure: s.Insecure, Namespace: s.Namespace, Node: s.Node,
		Timeout: s.Timeout, Interval: s.Interval, Replicas: s.Replicas, Placement: placements[s.Placement],
	}
	if s.TLSCA == "" && s.TLSCert == "" {
		return opts, nil
	}
	opts.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	if s.TLSCA != "" {
		roots, err := os.ReadFile(s.TLSCA)
		if err != nil {
			return opts, c.Fail("shared.tls_ca", unreadable(s.TLSCA, err))
		}
		if roots, err = textfile.Trim(roots); err != nil {
			return opts, c.Fail("shared.tls_ca", s.TLSCA+": "+err.Error())
		}
		opts.TLS.RootCAs = x509.NewCertPool()
		if !opts.TLS.RootCAs.AppendCertsFromPEM(roots) {
			return opts, c.Fail("shared.tls_ca", s.TLSCA+" has no certificates in PEM form")
		}
	}
	if s.TLSCert != "" {
		own, err := access.LoadKeyPair(s.TLSCert, s.TLSKey, log)
		if err != nil {
			return opts, certificateError(c, err)
		}
		opts.TLS.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return own.Current() }
	}
	return opts, nil
}

// unreadable describes why a file of the configuration can't be read, and the fix.
func unreadable(path string, err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "there is no file " + path + ": correct the path"
	}
	if cause := (*fs.PathError)(nil); errors.As(err, &cause) {
		err = cause.Err // it doesn't repeat the path
	}
	return fmt.Sprintf("%s can't be read: %v", path, err)
}

// certificateError returns the error for this node's certificate and key.
func certificateError(c config.Config, err error) error {
	cause := (*fs.PathError)(nil)
	if !errors.As(err, &cause) {
		return c.Fail("shared.tls_cert", err.Error())
	}
	key := "shared.tls_cert"
	if cause.Path == c.Shared.TLSKey {
		key = "shared.tls_key"
	}
	return c.Fail(key, unreadable(cause.Path, err))
}

var placements = map[string]redisstore.Placement{
	config.PlaceByUser: redisstore.PlaceByUser, config.PlaceByChannel: redisstore.PlaceByChannel, config.PlaceTogether: redisstore.PlaceTogether,
}

// CheckPolicies returns an error that names the fix if nodes can't share the limits of a policy of
// the configuration.
func CheckPolicies(c config.Config) error {
	if problem := unplaceable(c, c.Policy); problem != "" {
		return c.Fail("shared.placement", problem)
	}
	for _, p := range c.Policies() {
		if problem := withoutTextKey(c, p); problem != "" {
			return c.Fail("shared.text_key", problem)
		}
	}
	return nil
}

// Unshareable says why nodes with the configuration can't share the limits of p, and what to do. It
// returns "" if they can.
func Unshareable(c config.Config, p chatguard.Policy) string {
	return cmp.Or(unplaceable(c, p), withoutTextKey(c, p))
}

// withoutTextKey says which limit of p needs the nodes' key of texts, and what to do if there is
// none.
func withoutTextKey(c config.Config, p chatguard.Policy) string {
	if !c.Shared.HasStore() || c.Shared.TextKey != "" {
		return ""
	}
	for _, l := range p.Limits {
		if inner.IsText(l.Per) {
			return fmt.Sprintf("nodes that share the limit %q, on repeated text, need the same key: set CHATGUARD_SHARED_TEXT_KEY to the same long random text on all nodes (openssl rand -hex 24)", l.Name)
		}
	}
	return ""
}

// unplaceable says why the rows of p, or of the configuration's policies, can't be placed on the
// configuration's Cluster, and what to do. It returns "" if they can.
func unplaceable(c config.Config, p chatguard.Policy) string {
	if !c.Shared.HasStore() || !c.Shared.IsCluster() {
		return ""
	}
	opts := redisstore.Options{Placement: placements[c.Shared.Placement], NameOf: optionName}
	if err := opts.CheckPlacement(append([]chatguard.Policy{p}, c.Policies()...)...); err != nil {
		return strings.TrimPrefix(err.Error(), "redisstore: ")
	}
	return ""
}

// OpenStore opens the shared store of a configuration that has one. A store that can't be reached
// is no error; see redisstore.Open. change may change the options.
func OpenStore(ctx context.Context, c config.Config, log *slog.Logger, change func(*redisstore.Options)) (*redisstore.Store, error) {
	opts, err := optionsOf(c, log)
	if err != nil {
		return nil, err
	}
	change(&opts)
	store, err := redisstore.Open(ctx, c.Shared.URL, &opts)
	switch {
	case err == nil:
		return store, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, c.Fail("shared.url", strings.TrimPrefix(err.Error(), "redisstore: "))
}

// commandTimeout is how long a command waits for each answer of the shared store.
const commandTimeout = 5 * time.Second

// OpenStoreUp opens the shared store for a command, which isn't a node. It returns an error if the
// configuration has none, or the store is away.
func OpenStoreUp(ctx context.Context, c config.Config) (*redisstore.Store, error) {
	if !c.Shared.HasStore() {
		problem := fmt.Sprintf(`is %q, so there is no shared store: set it to "exact" or "synchronised"`, c.Shared.Mode)
		return nil, c.Fail("shared.mode", problem)
	}
	store, err := OpenStore(ctx, c, slog.New(slog.DiscardHandler), func(o *redisstore.Options) {
		o.Timeout = commandTimeout
		o.Node = "" // a name of its own
	})
	if err != nil {
		return nil, err
	}
	if health := store.Health(); !health.Up {
		err := fmt.Errorf("the shared store is away: %s", health.Problem)
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// optionName returns what an operator calls an option of the shared store: a key of the
// configuration or an environment variable.
func optionName(option string) string { return optionNames[option] }

var optionNames = map[string]string{
	"Username": "the user in shared.url", "Password": "CHATGUARD_SHARED_PASSWORD", "SentinelPassword": "CHATGUARD_SHARED_SENTINEL_PASSWORD",
	"TLS": "shared.tls_ca", "TLS.RootCAs": "shared.tls_ca", "TLS.Certificates": "shared.tls_cert", "Insecure": "shared.insecure",
	"Namespace": "shared.namespace", "Node": "shared.node", "Replicas": "shared.replicas", "Timeout": "shared.timeout", "Interval": "shared.interval",
	"Placement": "shared.placement", "PlaceByUser": `"user"`, "PlaceByChannel": `"channel"`, "PlaceTogether": `"together"`,
	"PlacementFor": "the one that `chatguard doctor` names",
}
