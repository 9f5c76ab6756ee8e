package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/textfile"
	"github.com/chatguard/chatguard/internal/web"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/redisstore"
)

// SharedOptions returns the options of the shared store of a configuration.
func SharedOptions(c config.Config, log *slog.Logger) (opts redisstore.Options, err error) {
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

// CheckPlacement returns an error that names the fix if the rows of a policy of the configuration
// can't be placed on its Cluster.
func CheckPlacement(c config.Config) error {
	if problem := unplaceable(c, c.Policy); problem != "" {
		return c.Fail("shared.placement", problem)
	}
	return nil
}

// unplaceable says why the rows of a policy, or of a policy of the configuration, can't be placed
// on the configuration's Cluster, and what to do. It is empty if they can.
func unplaceable(c config.Config, p chatguard.Policy) string {
	if !c.Shared.HasStore() || !c.Shared.IsCluster() {
		return ""
	}
	policies := []chatguard.Policy{p, c.Policy}
	for _, name := range slices.Sorted(maps.Keys(c.Channels)) {
		policies = append(policies, c.Channels[name])
	}
	opts := redisstore.Options{Placement: placements[c.Shared.Placement], NameOf: optionName}
	if err := opts.CheckPlacement(policies...); err != nil {
		return strings.TrimPrefix(err.Error(), "redisstore: ")
	}
	return ""
}

// shareModes are the modes of a Guard with a shared store.
var shareModes = map[string]chatguard.ShareMode{
	config.ShareExact: chatguard.ShareExact, config.ShareSynchronised: chatguard.ShareSynchronised,
}

// OpenShared opens the shared store of a configuration that has one. A store that can't be reached
// is no error; see redisstore.Open. change may change the options; nil changes nothing.
func OpenShared(ctx context.Context, c config.Config, log *slog.Logger, change func(*redisstore.Options)) (*redisstore.Store, error) {
	opts, err := SharedOptions(c, log)
	if err != nil {
		return nil, err
	}
	if change != nil {
		change(&opts)
	}
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

// OpenSharedUp opens the shared store for a command, which isn't a node. It returns an error if the
// configuration has none, or the store is away.
func OpenSharedUp(ctx context.Context, c config.Config) (*redisstore.Store, error) {
	if !c.Shared.HasStore() {
		problem := fmt.Sprintf(`is %q, so there is no shared store: set it to "exact" or "synchronised"`, c.Shared.Mode)
		return nil, c.Fail("shared.mode", problem)
	}
	store, err := OpenShared(ctx, c, slog.New(slog.DiscardHandler), func(o *redisstore.Options) {
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

// openShared opens the shared store, if the configuration has one. The bot decides by what it knows
// while the store is away.
func (a *App) openShared(ctx context.Context) (err error) {
	if !a.Config.Shared.HasStore() {
		return nil
	}
	if err := CheckPlacement(a.Config); err != nil {
		return err
	}
	a.shared, err = OpenShared(ctx, a.Config, a.log, func(o *redisstore.Options) {
		o.Version = a.version
		o.Describe = func(n *redisstore.Node) { a.describe(n, time.Now()) }
	})
	if err != nil {
		return err
	}
	a.registerShared()
	if len(a.Config.Twitch.Channels) > 0 {
		a.standby = chat.NewStandby(func(channelID string) chat.Lease { return a.shared.Lead(channelID) }, a.log)
	}
	return nil
}

// runShared connects the Guard with the other nodes until ctx ends.
func (a *App) runShared(ctx context.Context) error {
	if a.shared == nil {
		return nil
	}
	var watching sync.WaitGroup
	defer watching.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	watching.Go(func() { a.watchUnreadable(ctx) })
	return a.shared.Run(ctx, a.Guard)
}

// unreadableEvery is how often watchUnreadable looks.
const unreadableEvery = 10 * time.Second

// watchUnreadable logs when messages are decided without the store because a row can't be read.
func (a *App) watchUnreadable(ctx context.Context) {
	for before := int64(0); clock.Sleep(ctx, unreadableEvery) == nil; {
		sharing := a.Guard.Sharing()
		if more := sharing.Unreadable - before; more > 0 {
			a.log.Warn("messages are judged without the other nodes, because rows of the shared store can't be read; run the same version on all nodes",
				"messages", more, "problem", sharing.Problem)
		}
		before = sharing.Unreadable
	}
}

// sharedState returns how this node shares limits.
func (a *App) sharedState() live.Shared {
	s := live.Shared{Mode: live.ShareMode(a.Config.Shared.Mode), Up: true}
	if a.shared == nil {
		return s
	}
	health := a.shared.Health()
	s.Up, s.Refusing, s.Since, s.Problem = health.Up, health.Refusing, health.Since, health.Problem
	s.AddProblem(a.Guard.Sharing())
	return s
}

// nodes returns all nodes that share limits, and what this one has done.
func (a *App) nodes(ctx context.Context) (n web.Nodes, err error) {
	if a.shared == nil {
		n.Shared = a.sharedState()
		return n, nil
	}
	nodes, err := a.shared.Nodes(ctx)
	n.Shared = a.sharedState() // afterwards, because Nodes may find that the store is away
	health := a.shared.Health()
	n.Server, n.IfEqual = health.Server, health.IfEqual
	n.RoundTripMS, n.OffsetMS, n.SkewMS = web.Milliseconds(health.RoundTrip), web.Milliseconds(health.Offset), web.Milliseconds(health.Skew)
	sharing := a.Guard.Sharing()
	n.Count(sharing)
	if fraction, ok := a.figures.overshoot(time.Now(), sharing); ok && a.Config.Shared.Mode == config.ShareSynchronised {
		n.Overshoot = &fraction
	}
	for _, node := range nodes {
		n.Nodes = append(n.Nodes, web.Node{
			Name: node.Name, Version: node.Version, Address: node.Address, Mode: live.ShareMode(node.Mode), Started: node.Started, Self: node.Self,
			OffsetMS: web.Milliseconds(node.Offset), ErrorMS: web.Milliseconds(node.Error), MessagesPerSecond: float64(node.Figures[FigureMessages]),
			FromMemory: node.Figures[FigureFromMemory], Apart: node.Figures[FigureApart], Owed: int(node.Figures[FigureOwed]),
		})
	}
	return n, err
}

// leads reports whether this node acts in a channel. ok is false if no other node could act there,
// and before the channel's first message.
func (a *App) leads(channelID string) (leads, ok bool) {
	if a.standby == nil {
		return false, false
	}
	_, ok = a.standby.Leader(channelID)
	return a.standby.Leads(channelID), ok
}

// documents are the documents of the shared store, for control.
type documents struct{ *redisstore.Store }

// SetDocument implements policies.Documents.
func (d documents) SetDocument(ctx context.Context, name string, data []byte, revision int64) error {
	err := d.Store.SetDocument(ctx, name, data, revision)
	if errors.Is(err, redisstore.ErrConflict) {
		return fmt.Errorf("%w (%w)", policies.ErrStale, err)
	}
	return err
}

// sharedDocuments returns where people's changes are shared, or nil if this node is alone.
func (a *App) sharedDocuments() policies.Documents {
	if a.shared == nil {
		return nil
	}
	return documents{a.shared}
}
