package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/simulate"
	"github.com/chatguard/chatguard/internal/web"
	"github.com/chatguard/chatguard/internal/web/access"
)

func newLabCommand() *cobra.Command {
	var length duration
	w := config.Web{Listen: config.Default().Web.Listen, Insecure: true} // the Lab has no sign-in
	var proxies []string
	cmd := &cobra.Command{
		Use:   "lab [flags] [FILE…]",
		Short: "See, play with and measure the limit algorithms",
		Long: `Serves the Lab on this machine: a page on which limits of any algorithm judge the same messages side by side. It needs no
account, no configuration and no database, and it stores nothing. The engine is the one that moderates.

With --listen 0.0.0.0:8080, as a container needs it, other machines can reach the page, without encryption.

A FILE is recorded chat as replay reads it; - is standard input. The Lab then also plays the recorded traffic of its
channels: who wrote when, with which roles. It keeps up to 1,000,000 messages in memory, without their texts.

The commands below measure on the command line.`,
		Example: `  chatguard lab
  chatguard lab chat.irc.gz
  chatguard lab --for 30s --listen 127.0.0.1:8090
  chatguard lab edge --limit 'token-bucket burst=3 refill=4s'`,
		Args: labFiles,

		SuggestionsMinimumDistance: 2,
		DisableFlagsInUseLine:      true,
		RunE: func(cmd *cobra.Command, files []string) error {
			site, err := labSite(w, proxies)
			if err != nil {
				return err
			}
			recorded, err := readLabFiles(cmd, files)
			if err != nil {
				return err
			}
			ctx, stop := newStopContext(cmd.Context(), time.Duration(length))
			defer stop()
			return runLab(ctx, site, recorded, !cmd.Flags().Changed("listen"), cmd.OutOrStdout())
		},
	}
	cmd.Flags().Var(&length, "for", durationUsage)
	cmd.Flags().StringVar(&w.Listen, "listen", w.Listen, "address of the Lab")
	cmd.Flags().StringVar(&w.PublicURL, "public-url", "", "behind a proxy: the address that people use")
	cmd.Flags().StringSliceVar(&proxies, "trusted-proxy", nil, "address or range of a proxy that is trusted to name its clients; may be repeated")
	cmd.AddCommand(newLabPushCommand(), newLabAccuracyCommand(), newLabEdgeCommand(), newLabCompareCommand())
	return cmd
}

// labSite returns the site of the Lab, or a usage error for an address that the Lab must not or
// can't use.
func labSite(w config.Web, proxies []string) (site access.Site, err error) {
	if err := w.CheckListen(); err != nil {
		return site, usageError{fmt.Errorf("--listen: %w", err)}
	}
	if err := w.CheckPublicURL(); err != nil {
		return site, usageError{fmt.Errorf("--public-url: %w", err)}
	}
	for _, text := range proxies {
		var p config.Proxy
		if err := p.UnmarshalText([]byte(text)); err != nil {
			return site, usageError{fmt.Errorf("--trusted-proxy: %w", err)}
		}
		w.TrustedProxies = append(w.TrustedProxies, p)
	}
	return app.Site(w), nil
}

// runLab serves the Lab until the context ends. recorded may be nil. If anyPort is set and the
// address is in use, it listens at any free port of this machine.
func runLab(ctx context.Context, site access.Site, recorded *simulate.Recordings, anyPort bool, out io.Writer) error {
	listener, err := openLab(&site, anyPort)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	lab, err := web.NewLabSite(site, recorded, nil, log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	address := site.Address(listener.Addr().String())
	fmt.Fprintf(out, "Open this in your browser:\n  %s%s\n", address, recordedFragment(recorded))
	printOpenAddress(site, out)
	fmt.Fprintln(out, "Ctrl-C ends the Lab.")
	return lab.Run(ctx, listener)
}

// openLab listens at the site's address. If that is in use and anyPort is set, it listens at any
// free port of this machine.
func openLab(site *access.Site, anyPort bool) (net.Listener, error) {
	listener, err := site.Open()
	switch {
	case !errors.Is(err, access.ErrInUse):
		return listener, err
	case !anyPort:
		return nil, fmt.Errorf("--listen: %s %w: name another port", site.Listen, access.ErrInUse)
	}
	site.Listen = "127.0.0.1:0"
	return site.Open()
}
