package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitchbot"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/hostile"
)

func newWatchCommand() *cobra.Command {
	var path string
	var length duration
	cmd := &cobra.Command{
		Use:   "watch CHANNEL…",
		Short: "Show who would be throttled in any Twitch channel, without acting",
		Long: `Reads Twitch channels anonymously and shows which users the configuration's limits would throttle. Without a
configuration, the default limits apply. The command needs no account, takes no action and stores nothing. Ctrl-C ends
it and prints a summary.`,
		Example: `  chatguard watch yourchannel
  chatguard watch --for 10m onechannel otherchannel`,
		Args: someArguments("a CHANNEL"),

		ValidArgsFunction: completeNames(&path, knownChannels),
		RunE: func(cmd *cobra.Command, channels []string) error {
			cfg, err := loadConfigIfAny(cmd, path)
			if err != nil {
				return err
			}
			cfg.Twitch.Channels, cfg.Twitch.Token = nil, ""
			for _, name := range channels {
				login, err := config.ChannelName(name)
				if err != nil {
					return usageError{err}
				}
				cfg.Twitch.Channels = append(cfg.Twitch.Channels, login)
			}
			ctx, stop := newStopContext(cmd.Context(), time.Duration(length))
			defer stop()
			return watch(ctx, cfg, cmd.OutOrStdout())
		},
	}
	addConfigFlag(cmd, &path)
	cmd.Flags().Var(&length, "for", durationUsage)
	return cmd
}

// watch prints reports until the context ends.
func watch(ctx context.Context, cfg config.Config, out io.Writer) error {
	cfg.Policy.Mode = chatguard.ModeObserve
	chatTime := clock.NewChat(nil)
	guard, err := chatguard.New(cfg.Policy, &chatguard.Options{Now: chatTime.Now, Observer: func(m chatguard.Message, v chatguard.Verdict) {
		if v.Observed {
			fmt.Fprintln(out, formatObservation(out, m, v))
		}
	}})
	if err != nil {
		return err
	}
	log := newWatchLog(os.Stderr)
	connection := twitchbot.New(twitchbot.Options{Config: cfg.Twitch, Log: log, ChatTime: chatTime, Entered: func(login, id string) {
		own, ok := cfg.OwnPolicy(login, id)
		if !ok {
			return
		}
		own.Mode = chatguard.ModeObserve
		if err := guard.SetChannelPolicy(id, own); err != nil {
			log.Error("a channel's own policy can't be applied", "channel", id, "login", login, "error", err)
		}
	}})
	bot := chat.New(chat.Options{Guard: guard, Source: connection})
	err = bot.Run(ctx)
	c := bot.Counts()
	fmt.Fprintf(out, "%d messages, %d of them exempt; %d would have been throttled\n", c.Messages, c.Exempt, c.Observed)
	return err
}

// formatObservation returns a line, with colors if out has them, about a user who would have been
// throttled.
func formatObservation(out io.Writer, m chatguard.Message, v chatguard.Verdict) string {
	wait := "could never send this message"
	if !v.Never {
		wait = "could speak again in " + v.RetryAfter.Round(100*time.Millisecond).String()
	}
	return fmt.Sprintf("%s  %-25s  %s: %s (%s)", v.At.Local().Format(time.TimeOnly), hostile.Printable(m.User.Name()), paint(out, yellow, v.Limit), wait, v.WouldBe)
}
