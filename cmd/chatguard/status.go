package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/request"
)

// exitNotRunning is the exit code of `chatguard status` if no chatguard runs. `systemctl status`
// and init scripts use the same code.
const exitNotRunning = 3

// statusOptions are the flags of `chatguard status`.
type statusOptions struct {
	config  string
	address string // of a dashboard; empty means the process that owns the configured database
	// fallback is the address that is asked without a configuration.
	fallback string
	health   bool // only whether it answers
	json     bool
	timeout  duration
}

func newStatusCommand() *cobra.Command {
	o := statusOptions{fallback: "http://" + config.Default().Web.Listen, timeout: duration(5 * time.Second)}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the state of a running chatguard",
		Long: `Shows the state of the chatguard that uses the configuration's database: modes, connections, token, throttled users,
messages, queues, database and memory. It needs no token, and works with any [web] settings, but only for the same user
or root.

With --address, asks over HTTP whether a chatguard works, without a configuration. That chatguard can run without
a database, on another machine, or as the demo. On this machine, any certificate is accepted. If there is no
configuration, the address is http://127.0.0.1:8080.

With --health, checks only whether the process answers, and then prints nothing. This works even if the configuration
has an error. Use it to decide about a restart.

The exit code is
  0  if everything works; with --health, if the process answers
  1  if it runs and something is wrong, or it can't be asked or doesn't answer in time
  2  after wrong usage, or if the configuration can't be read
  3  if it isn't running

For Nagios and similar tools, in which 2 is critical and 3 is unknown, swap them: negate -u CRITICAL -c UNKNOWN chatguard status`,
		Example: `  chatguard status
  chatguard status --json | jq .database_lag_seconds
  chatguard status --health --address http://127.0.0.1:8080`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.address != "" && cmd.Flags().Changed("config") {
				return usageError{errors.New("--address asks without a configuration: leave out --config")}
			}
			if o.health && o.json {
				return usageError{errors.New("--health prints nothing: leave out --json")}
			}
			ctx, stop := context.WithTimeout(cmd.Context(), time.Duration(o.timeout)+time.Second)
			defer stop()
			return showStatus(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr(), o)
		},
	}
	addConfigFlag(cmd, &o.config)
	cmd.Flags().StringVar(&o.address, "address", "", "ask the dashboard at this `URL`, such as http://127.0.0.1:8080")
	cmd.Flags().BoolVar(&o.health, "health", false, "print nothing and exit with 0 if the process answers")
	cmd.Flags().Var(&o.timeout, "timeout", "how long to wait for the answer")
	jsonFlag(cmd, &o.json)
	return cmd
}

// showStatus prints the status of a chatguard. The error has the exit code of the command.
// complaints is for what doesn't belong in JSON.
func showStatus(ctx context.Context, out, complaints io.Writer, o statusOptions) error {
	s, err := askStatus(ctx, o)
	if s.State == "" {
		return err
	}
	answered := s.State != request.NoAnswer && s.State != request.NotRunning
	if o.isLost() && answered && !o.health {
		printLine(complaints, "There is no %s here, so this is what answers at %s.", o.config, o.fallback)
	}
	switch {
	case o.health && answered:
		return nil
	case o.health:
	case o.json:
		err = errors.Join(err, printJSON(out, s))
	case answered:
		printStatus(out, s)
	}
	if s.State == request.NotRunning {
		return &exitError{err, exitNotRunning}
	}
	if err == nil && s.State != request.OK {
		err = fmt.Errorf("chatguard runs, but not everything works: %s", count(int64(len(s.Problems)), "problem"))
	}
	return err
}

// askStatus asks the chatguard that the options name. If it doesn't answer, the status says so, and
// the error says why. An error without a state means that nothing could be asked.
func askStatus(ctx context.Context, o statusOptions) (s request.Status, err error) {
	if o.isLost() {
		o.address = o.fallback
		if s, err = askDashboard(ctx, o); err != nil {
			err = fmt.Errorf("there is no %s here, and %w", o.config, err)
			s = failedStatus(s.State, err)
		}
		return s, err
	}
	if o.address != "" {
		return askDashboard(ctx, o)
	}
	cfg, err := readConfig(o.config)
	database := cfg.Database
	if err != nil && o.health {
		database = config.DatabaseOf(o.config, os.LookupEnv)
	}
	var owned *sqlite.OwnedError
	var hidden *sqlite.HiddenError
	if database != "" {
		unfree := sqlite.CheckOwner(database)
		errors.As(unfree, &owned)
		errors.As(unfree, &hidden)
	}
	switch {
	case owned == nil && err != nil:
		return s, err
	case hidden != nil:
		err = fmt.Errorf("chatguard can't be asked: %w", hidden)
		return failedStatus(request.NoAnswer, err), err
	case owned == nil:
		err = fmt.Errorf("no chatguard uses the database %s: start it with `chatguard run`, or use --address for one that runs with --no-database", database)
		return failedStatus(request.NotRunning, err), err
	}
	s, err = request.AskStatus(ctx, owned, time.Duration(o.timeout))
	if err != nil {
		err = explainDiskFull(owned, err)
		s = failedStatus(request.NoAnswer, err)
	}
	return s, err
}

// isLost reports whether neither an address nor a configuration says whom to ask.
func (o statusOptions) isLost() bool { return o.address == "" && !hasConfig(o.config) }

// explainDiskFull rewords an error that says that the disk is full. A question is a file, so the
// owner of a database can't be asked then.
func explainDiskFull(owned *sqlite.OwnedError, err error) error {
	if !sqlite.IsDiskFull(err) {
		return err
	}
	return fmt.Errorf("chatguard (process %d) can't be asked, because the disk of %s is full: free some space", owned.PID, owned.Path)
}

// failedStatus returns the status of a chatguard that didn't answer.
func failedStatus(state request.State, err error) request.Status {
	return request.Status{State: state, Problems: []string{err.Error()}}
}
