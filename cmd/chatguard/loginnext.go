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
	lines, err := standings(ctx, helix, cfg.Twitch.Channels, id)
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

// standings are a line on each channel: whether the bot may moderate there, and what to do where it may not.
func standings(ctx context.Context, helix *twitch.Helix, channels []string, id twitch.Identity) ([]string, error) {
	accounts, err := helix.Users(ctx, channels...)
	if err != nil {
		return nil, err
	}
	moderates, err := whereModerator(ctx, helix, id.UserID)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, channel := range channels {
		account, exists := accountOf(accounts, channel)
		says := "it is a moderator there"
		switch {
		case !exists:
			says = "there is no such channel: correct twitch.channels"
		case account.ID == id.UserID:
			says = "its own channel"
		case !moderates(account.ID):
			says = fmt.Sprintf("it is no moderator there: %s; until then it only observes", modMend(id.Login, channel))
		}
		lines = append(lines, fmt.Sprintf("  %-25s  %s", channel, says))
	}
	return lines, nil
}

// accountOf is the account with a login; false where it isn't among them.
func accountOf(accounts []twitch.Account, login string) (twitch.Account, bool) {
	at := slices.IndexFunc(accounts, func(a twitch.Account) bool { return a.Login == login })
	if at < 0 {
		return twitch.Account{}, false
	}
	return accounts[at], true
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
