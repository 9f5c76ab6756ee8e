package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/persist/transfer"
	"github.com/chatguard/chatguard/internal/restore"
)

func newRestoreCommand() *cobra.Command {
	var r restoring
	cmd := &cobra.Command{
		Use:   "restore [flags] FILE",
		Short: "Go back to a backup while chatguard isn't running",
		Long: `Restores what "chatguard backup" wrote to FILE, all of it or nothing. Stop chatguard first. The current files are
kept beside the new ones, with ".before-restore" added to their names.

A plain backup replaces the database that the configuration names. An encrypted one also restores the login, the key
of texts and the configuration. Then its configuration names the database, unless ` + "CHATGUARD_DATABASE" + ` is set. A login that is newer than the
backup's is kept, because Twitch no longer accepts the older one.

The passphrase comes from --passphrase-file, from ` + passphraseVariable + `, or from you.`,
		Example: `  chatguard restore chatguard-backup.db
  chatguard restore --config /etc/chatguard/chatguard.toml chatguard-backup.age`,
		Args: oneFile("a FILE that `chatguard backup` wrote"),
		RunE: func(cmd *cobra.Command, files []string) error {
			r.cmd, r.file = cmd, files[0]
			return r.run()
		},
	}
	cmd.Flags().BoolVar(&r.onlyDatabase, "only-database", false, "leave login, key of texts and configuration as they are")
	r.passphrase.addFlag(cmd)
	addConfigFlag(cmd, &r.config)
	return cmd
}

// restoring is a call of `chatguard restore`.
type restoring struct {
	cmd          *cobra.Command
	config       string // path of the configuration
	file         string
	onlyDatabase bool
	passphrase   passphrase
}

func (r *restoring) run() error {
	// Make sure that chatguard doesn't run before asking for a passphrase.
	if cfg, err := loadConfigIfAny(r.cmd, r.config); err == nil {
		if err := sqlite.CheckOwner(cfg.Database); err != nil {
			return err
		}
	}
	var progress restore.Progress
	var secret string
	opts := restore.Options{Places: r.places, OnlyDatabase: r.onlyDatabase, Progress: &progress}
	opts.Passphrase = func() (string, error) { return secret, nil }
	encrypted, err := restore.IsEncrypted(r.file)
	if err == nil && encrypted {
		secret, err = r.passphrase.get(r.cmd, false)
	} else if err == nil {
		err = r.passphrase.refuseUnneeded(r.file + " isn't encrypted")
	}
	if err != nil {
		return err
	}
	var report string
	state := func() string { return "restored " + byteCount(progress.Bytes()) }
	err = runLongWork(r.cmd, state, "nothing was restored", func(ctx context.Context) error {
		outcome, err := restore.Run(ctx, r.file, opts)
		if err == nil {
			report = r.report(ctx, outcome)
		}
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(r.cmd.OutOrStdout(), hostile.Visible(report))
	return err
}

// places returns where the files belong if the configuration will have the given contents. nil
// means that it stays as it is.
func (r *restoring) places(configuration []byte) (transfer.Installation, error) {
	load := func() (config.Config, error) { return loadConfigIfAny(r.cmd, r.config) }
	if configuration != nil {
		load = func() (config.Config, error) { return config.Parse(r.config, configuration, os.LookupEnv) }
	}
	cfg, err := load()
	return installationOf(cfg), err
}

// report says what was restored and what comes next.
func (r *restoring) report(ctx context.Context, o restore.Outcome) string {
	var text strings.Builder
	say := func(format string, values ...any) { fmt.Fprintf(&text, format+"\n", values...) }
	from := ""
	if !o.At.IsZero() {
		from = ": as of " + moment(o.At)
	}
	say("Restored the database %s%s", o.Places.Database, from)
	switch o.Login {
	case restore.Restored:
		say("Restored the login %s", o.Places.Login)
	case restore.Newer:
		say("Kept the login %s, which is newer than the backup's", o.Places.Login)
	}
	if o.TextKey == restore.Restored {
		say("Restored the key of texts %s", o.Places.TextKey)
	}
	if o.Configuration == restore.Restored {
		say("Restored the configuration %s", o.Places.Configuration)
	}
	if len(o.Kept) > 0 {
		say("What was there before is in %s", strings.Join(o.Kept, ", "))
	}
	cfg, err := loadConfigIfAny(r.cmd, r.config)
	if o.TextKey == restore.Absent && err == nil && app.HasOtherTexts(ctx, cfg) {
		say("The database's hashes of texts are useless without their key: limits on repeated text, and their previews, begin with the next message")
	}
	for _, file := range []string{cfg.Web.TLSCert, cfg.Web.TLSKey, cfg.Shared.TLSCA, cfg.Shared.TLSCert, cfg.Shared.TLSKey} {
		if _, missing := os.Stat(file); err == nil && file != "" && missing != nil {
			say("Missing: %s, which the configuration names and no backup contains", file)
		}
	}
	if o.Configuration == restore.Restored {
		say("Next: set the CHATGUARD_ variables that were set where the backup was made, and start chatguard")
	} else {
		say("Next: start chatguard")
	}
	if o.Login == restore.Restored {
		say("If `chatguard doctor` says that the bot has no valid token, run `chatguard login`")
	}
	return text.String()
}
