package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/persist"
)

// sayWhatNext says what a new login is good for: where the bot may moderate, and what is still to do.
func sayWhatNext(ctx context.Context, out io.Writer, cfg config.Config, tokens *twitch.Tokens, id twitch.Identity) error {
	if missing := twitch.MissingScopes(cfg.Twitch.Transport, id.Scopes); len(missing) > 0 {
		fmt.Fprintf(out, "Twitch left out rights that chatguard needs: %s. Run `chatguard login` again.\n", strings.Join(missing, ", "))
	}
	fmt.Fprintln(out)
	helix := &twitch.Helix{BaseURL: cfg.Twitch.HelixURL, AuthURL: cfg.Twitch.AuthURL, ClientID: func() string { return id.ClientID }, Token: tokens.Token}
	defer helix.Close()
	lines, err := whereModerator(ctx, helix, cfg.Twitch.Channels, id)
	switch {
	case err != nil:
		fmt.Fprintf(out, "Where it is a moderator can't be asked now (%v).\n", err)
	case len(lines) == 0:
		fmt.Fprintf(out, "Name the channel to moderate in %s: twitch.channels is empty.\n", cfg.Path)
	}
	for _, line := range lines {
		fmt.Fprintln(out, line)
	}
	_, err = fmt.Fprintln(out, "\n"+nextStep(cfg))
	return err
}

// whereModerator is a line on each channel: whether the bot may moderate there, and what to do where it may not.
func whereModerator(ctx context.Context, helix *twitch.Helix, channels []string, id twitch.Identity) ([]string, error) {
	accounts, err := helix.Users(ctx, channels...)
	if err != nil {
		return nil, err
	}
	moderated, err := helix.ModeratedChannels(ctx, id.UserID)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, channel := range channels {
		at := slices.IndexFunc(accounts, func(a twitch.Account) bool { return a.Login == channel })
		says := "it is a moderator there"
		switch {
		case at < 0:
			says = "there is no such channel: correct twitch.channels"
		case accounts[at].ID == id.UserID:
			says = "its own channel"
		case !slices.Contains(moderated, accounts[at].ID):
			says = fmt.Sprintf("it is no moderator there: type /mod %s in that chat; until then it only observes", id.Login)
		}
		lines = append(lines, fmt.Sprintf("  %-25s  %s", channel, says))
	}
	return lines, nil
}

// nextStep is what to do after a login.
func nextStep(cfg config.Config) string {
	if errors.As(persist.CheckOwner(cfg.Database), new(*persist.OwnedError)) {
		return "The chatguard that is running takes this up within seconds."
	}
	step := "Start it: chatguard run"
	if cfg.Path != defaultConfig {
		step += fmt.Sprintf(" --config %q", cfg.Path)
	}
	if cfg.Policy.Mode == chatguard.Observe {
		step += fmt.Sprintf("\nIt only observes until policy.mode in %s is \"enforce\".", cfg.Path)
	}
	return step
}
