package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/chat/twitchbot"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// printLoginSteps prints what a new login allows: where the bot may moderate, and what is left to
// do.
func printLoginSteps(ctx context.Context, out io.Writer, cfg config.Config, tokens *token.Store, id token.Identity) error {
	if missing := token.MissingScopes(cfg.Twitch.Transport, id.Scopes); len(missing) > 0 {
		fmt.Fprintf(out, "Twitch did not grant scopes that chatguard needs: %s. Run `chatguard login` again.\n", strings.Join(missing, ", "))
	}
	fmt.Fprintln(out)
	client := &helix.Client{BaseURL: cfg.Twitch.HelixURL, ClientID: func() string { return id.ClientID }, Token: tokens.Token}
	defer client.Close()
	lines, err := channelLines(ctx, client, cfg.Twitch.Channels, id)
	switch {
	case err != nil:
		fmt.Fprintf(out, "Can't find out now where it is a moderator (%v).\n", err)
	case len(lines) == 0:
		fmt.Fprintf(out, "Name the channel to moderate in %s: twitch.channels is empty.\n", cfg.Path)
	}
	for _, line := range lines {
		fmt.Fprintln(out, line)
	}
	_, err = fmt.Fprintln(out, "\n"+nextStep(cfg))
	return err
}

// channelLines returns a line for each channel. It says whether the bot may moderate the channel,
// and what to do if it may not.
func channelLines(ctx context.Context, client *helix.Client, channels []string, id token.Identity) ([]string, error) {
	accounts, err := client.Users(ctx, channels...)
	if err != nil {
		return nil, err
	}
	moderates, err := twitchbot.WhereModerator(ctx, client, id.UserID)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, channel := range channels {
		account, exists := twitchbot.AccountOf(accounts, channel)
		says := "it is a moderator there"
		switch {
		case !exists:
			says = "there is no such channel: correct twitch.channels"
		case account.ID == id.UserID:
			says = "its own channel"
		case !moderates(account.ID):
			says = fmt.Sprintf("it is not a moderator there: %s; until then it only observes", twitchbot.ModCommand(id.Login, channel))
		}
		lines = append(lines, fmt.Sprintf("  %-25s  %s", channel, says))
	}
	return lines, nil
}

// nextStep returns what to do after a login.
func nextStep(cfg config.Config) string {
	if errors.As(sqlite.CheckOwner(cfg.Database), new(*sqlite.OwnedError)) {
		return "The running chatguard uses this login within seconds."
	}
	step := "Start it: chatguard run"
	if cfg.Path != defaultConfig {
		step += fmt.Sprintf(" --config %q", cfg.Path)
	}
	if cfg.Policy.Mode == chatguard.ModeObserve {
		step += fmt.Sprintf("\nIt only observes until policy.mode in %s is \"enforce\".", cfg.Path)
	}
	return step
}
