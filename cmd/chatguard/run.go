package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/request"
	"github.com/chatguard/chatguard/internal/systemd"
	"github.com/chatguard/chatguard/internal/web/access"
)

func newRunCommand() *cobra.Command {
	var path string
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Moderate the channels of the configuration",
		Long: `Connects to the channels of the configuration, applies its policy to their chatters, and serves the dashboard. Servers of
other chats send it their messages by POST /api/v1/check. If the configuration names only such chats, in check.channels,
it connects to nothing.

The bot's account is the one used with ` + "`chatguard login`" + ` (or that of the access token in CHATGUARD_TWITCH_TOKEN).
Without one, and in channels where it is not a moderator, chatguard only observes; the dashboard says what to do. A
later login takes effect without a restart.

SIGHUP or ` + "`chatguard reload`" + ` applies changes in the configuration. SIGTERM or Ctrl-C ends it.

As a service of systemd (Type=notify) it reports its start, reloads and state, feeds the watchdog, and serves the dashboard
at the address of the socket unit, if there is one, instead of ` + "`web.listen`" + `.

While the database is failing (disk full, locked, damaged), moderation continues in memory, the dashboard says so, and
pending data is written once the database recovers. A database that can't be opened is left as it is; --no-database runs
without one, and then a new sign-in link needs a restart.

In a terminal it prints a sign-in link for the dashboard. Elsewhere, for example under systemd, its output is a log: use
` + "`chatguard signin`" + ` to print a link.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runFrom(cmd, path, o) },
	}
	addConfigFlag(cmd, &path)
	cmd.Flags().BoolVar(&o.noDatabase, "no-database", false, "keep everything in memory only")
	return cmd
}

type runOptions struct {
	noDatabase bool
	browser    bool // open the dashboard in the browser if a person sits at a terminal
}

// runFrom moderates according to the configuration at path until a signal ends it.
func runFrom(cmd *cobra.Command, path string, o runOptions) error {
	s := newService()
	defer s.close()
	err := s.run(cmd, path, o)
	s.notifier.Failed(err)
	return err
}

// run is runFrom for a process that systemd may have started.
func (s *service) run(cmd *cobra.Command, path string, o runOptions) error {
	if err := s.accept(); err != nil {
		return err
	}
	load := func() (config.Config, error) { return s.load(path) }
	cfg, err := load()
	if err != nil {
		return err
	}
	if o.noDatabase {
		var owned *sqlite.OwnedError
		if errors.As(sqlite.CheckOwner(cfg.Database), &owned) {
			return owned // otherwise two bots would act on each message
		}
		cfg.NoDatabase = true
	}
	if err := cmp.Or(cfg.CheckServed(), cfg.CheckWebhooks(), app.CheckReady(cfg)); err != nil {
		return err
	}
	if err := refuseRoot(cfg, os.Geteuid() == 0); err != nil {
		return err
	}
	app.LimitMemory(cfg)
	// Without this, a reload while chatguard starts would end it.
	notified, ignore := request.Notifications()
	defer ignore()
	a, err := s.open(cmd.Context(), cfg)
	if errors.Is(err, access.ErrInUse) {
		err = explainInUse(cmd.Context(), cfg, err)
	}
	if err != nil {
		return err
	}
	defer a.Close()
	// Handle signals first: once the address is printed, a signal may arrive.
	ctx, stop := newStopContext(cmd.Context(), 0)
	defer stop()
	if err := errors.Join(printRooms(a, cmd.OutOrStdout()), printDashboard(cmd.Context(), a, cmd.OutOrStdout())); err != nil {
		return err
	}
	if o.browser {
		showDashboard(cmd.Context(), a, cmd.OutOrStdout())
	}
	defer s.supervise(ctx, a)()
	return serve(ctx, a, notified, load)
}

// refuseRoot returns an error if root would create the database for another user, who then couldn't
// use it. That happens if an administrator starts the service's chatguard by hand.
func refuseRoot(cfg config.Config, isRoot bool) error {
	if !isRoot || cfg.NoDatabase {
		return nil
	}
	user := sqlite.ForeignFolder(cfg.Database)
	if user == "" {
		return nil
	}
	return fmt.Errorf("root would create the database %s, and then the folder's owner %s couldn't use it: run `sudo -u %[2]s chatguard run`, or `systemctl start chatguard`",
		cfg.Database, user)
}

// explainInUse names the program that uses the dashboard's address, if it is known. Usually it is
// chatguard itself.
func explainInUse(ctx context.Context, cfg config.Config, err error) error {
	if !cfg.NoDatabase {
		var owned *sqlite.OwnedError
		if errors.As(sqlite.CheckOwner(cfg.Database), &owned) {
			return owned
		}
	}
	if unit := systemd.SocketUnit(ctx, cfg.Web.Listen); unit != "" {
		return fmt.Errorf("%s is in use by systemd, for %s: run `systemctl start %s`, or stop %[2]s, or set [web] listen to another port",
			cfg.Web.Listen, unit, strings.TrimSuffix(unit, ".socket"))
	}
	return err
}

// serve runs an App until the context ends. Meanwhile it handles requests of other processes, which
// notified announces. load loads the configuration for a reload.
func serve(ctx context.Context, a *app.App, notified <-chan os.Signal, load func() (config.Config, error)) error {
	ctx, stop := context.WithCancel(ctx)
	var reloading sync.WaitGroup
	defer reloading.Wait()
	defer stop()
	reloading.Go(func() { a.ServeRequests(ctx, notified, load) })
	return a.Run(ctx)
}
