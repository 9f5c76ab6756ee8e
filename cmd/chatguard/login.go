package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/chat/twitchbot"
	"github.com/chatguard/chatguard/internal/config"
)

func newLoginCommand() *cobra.Command {
	return configCommand(&cobra.Command{
		Use:   "login",
		Short: "Log in with the bot's Twitch account",
		Long: `Shows an address and a code. Open the address in a browser, on any device, that is signed in to Twitch as the bot's
account. The token is stored in a file next to the database that only you can read, and is renewed automatically.

The first time, it guides you through Twitch's form for a client ID. Works while chatguard runs, which then uses the new
login.`,
		Args: noArguments,
	}, func(cmd *cobra.Command, cfg config.Config, _ []string) error { return logIn(cmd, cfg) })
}

// logIn obtains tokens for the bot's account, stores them, and prints what they allow.
func logIn(cmd *cobra.Command, cfg config.Config) error {
	tokens := twitchbot.TokensOf(cfg, slog.New(slog.DiscardHandler)) // errors are printed here
	defer tokens.Close()
	if err := tokens.CanStore(cmd.Context()); err != nil {
		return err
	}
	device, code, err := beginLogin(cmd, &cfg)
	if err != nil {
		return err
	}
	ctx, stop := newStopContext(cmd.Context(), 0)
	defer stop()
	pair, err := waitForBrowser(ctx, cmd, device, code)
	if ctx.Err() != nil {
		return errors.New("stopped: nobody was logged in; an earlier login stays valid")
	}
	if err != nil {
		return err
	}
	id, err := tokens.Adopt(context.WithoutCancel(ctx), pair) // Twitch sends the pair only once
	if err != nil {
		return fmt.Errorf("the login succeeded, but: %w", err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "\nLogged in as %s. Its token is in %s, which only you can read.\n", id.Login, tokens.File)
	return printLoginSteps(ctx, cmd.OutOrStdout(), cfg, tokens, id)
}

// beginLogin gets a code from Twitch. If there is no client ID, it first asks the person for one,
// and stores it in the configuration once Twitch has accepted it.
func beginLogin(cmd *cobra.Command, cfg *config.Config) (*token.DeviceLogin, token.DeviceCode, error) {
	device := &token.DeviceLogin{Application: token.Application{AuthURL: cfg.Twitch.AuthURL, ClientID: cfg.Twitch.ClientID}}
	if device.ClientID != "" {
		code, err := device.Begin(cmd.Context())
		return device, code, err
	}
	form, err := newClientIDForm(cmd, cfg.Path)
	if err != nil {
		return nil, token.DeviceCode{}, err
	}
	for {
		if device.ClientID, err = form.ask(); err != nil {
			return nil, token.DeviceCode{}, err
		}
		code, err := device.Begin(cmd.Context())
		if errors.Is(err, token.ErrClientID) {
			fmt.Fprintln(form.out, "Twitch knows no application with this ID. Copy it again.")
			continue
		}
		if err != nil {
			return nil, code, err
		}
		cfg.Twitch.ClientID = device.ClientID
		return device, code, form.keep(device.ClientID)
	}
}

// waitForBrowser shows the code and waits until somebody has entered it.
func waitForBrowser(ctx context.Context, cmd *cobra.Command, device *token.DeviceLogin, code token.DeviceCode) (token.Pair, error) {
	_, err := fmt.Fprintf(cmd.OutOrStdout(), `In a browser where the bot's account is signed in to Twitch, on any device, open

    %s

and see that it shows this code:

    %s

The code works until %s. Ctrl-C ends this, and changes nothing.
`, code.Address, code.UserCode, moment(code.Expires))
	if err != nil {
		return token.Pair{}, err
	}
	defer countDown(cmd.ErrOrStderr(), code.Expires)()
	return device.Wait(ctx, code)
}

// countDown shows once per second in a terminal that the login is pending, until stop is called.
// Elsewhere it prints nothing.
func countDown(w io.Writer, until time.Time) (stop func()) {
	if !isTerminal(w) {
		return func() {}
	}
	ticker := time.NewTicker(time.Second)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		showCountDown(w, until, ticker.C, done)
	}()
	return func() {
		ticker.Stop()
		close(done)
		<-ended
	}
}

// showCountDown prints the remaining time at each tick, replacing the previous text, and clears it
// at the end.
func showCountDown(w io.Writer, until time.Time, ticks <-chan time.Time, done <-chan struct{}) {
	const clearLine = "\r\x1b[K" // go to the start of the line and clear it
	for {
		select {
		case <-done:
			fmt.Fprint(w, clearLine)
			return
		case now := <-ticks:
			left := max(0, until.Sub(now)).Round(time.Second)
			fmt.Fprintf(w, clearLine+"waiting for the browser, %d:%02d left", left/time.Minute, left%time.Minute/time.Second)
		}
	}
}
