package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/config"
)

func newLoginCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "login",
		Short: "Let the bot's Twitch account sign in",
		Long: `Shows an address and a code to open in a browser, on any device, where the bot's account is signed in to Twitch. What Twitch
gives for it lies in a file beside the database that only you can read, and is renewed by itself from then on.

The first time it leads through Twitch's form for a client ID. Works while chatguard runs, which takes the new login up.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(path)
			if err != nil {
				return err
			}
			return logIn(cmd, cfg)
		},
	}
	addConfigFlag(cmd, &path)
	return cmd
}

// logIn gets tokens for the bot's account, stores them, and says what they are good for.
func logIn(cmd *cobra.Command, cfg config.Config) error {
	tokens := tokensOf(cfg, slog.New(slog.DiscardHandler)) // what goes wrong is said here
	defer tokens.Close()
	if err := tokens.CanStore(cmd.Context()); err != nil {
		return err
	}
	device, code, err := beginLogin(cmd, &cfg)
	if err != nil {
		return err
	}
	ctx, stop := untilStopped(cmd.Context(), 0)
	defer stop()
	pair, err := waitForBrowser(ctx, cmd, device, code)
	if ctx.Err() != nil {
		return errors.New("stopped: nobody was logged in, and a login from before holds still")
	}
	if err != nil {
		return err
	}
	id, err := tokens.Adopt(context.WithoutCancel(ctx), pair) // Twitch gives the pair only once
	if err != nil {
		return fmt.Errorf("the login went well, but: %w", err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "\nLogged in as %s. Its token is in %s, which only you can read.\n", id.Login, tokens.File)
	return sayWhatNext(ctx, cmd.OutOrStdout(), cfg, tokens, id)
}

// beginLogin gets a code from Twitch, and a client ID from the person before where there is none. Once Twitch knows the ID, the configuration has it.
func beginLogin(cmd *cobra.Command, cfg *config.Config) (*twitch.DeviceLogin, twitch.DeviceCode, error) {
	device := &twitch.DeviceLogin{AuthURL: cfg.Twitch.AuthURL, ClientID: cfg.Twitch.ClientID}
	if device.ClientID != "" {
		code, err := device.Begin(cmd.Context())
		return device, code, err
	}
	form, err := newClientIDForm(cmd, cfg.Path)
	if err != nil {
		return nil, twitch.DeviceCode{}, err
	}
	for {
		if device.ClientID, err = form.ask(); err != nil {
			return nil, twitch.DeviceCode{}, err
		}
		code, err := device.Begin(cmd.Context())
		if errors.Is(err, twitch.ErrClientID) {
			fmt.Fprintln(form.out, "Twitch knows no application with this ID. Copy it once more.")
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
func waitForBrowser(ctx context.Context, cmd *cobra.Command, device *twitch.DeviceLogin, code twitch.DeviceCode) (twitch.Pair, error) {
	_, err := fmt.Fprintf(cmd.OutOrStdout(), `In a browser where the bot's account is signed in to Twitch, on any device, open

    %s

and see that it shows this code:

    %s

The code works until %s. Ctrl-C ends this, and changes nothing.
`, code.Address, code.UserCode, moment(code.Expires))
	if err != nil {
		return twitch.Pair{}, err
	}
	defer countDown(cmd.ErrOrStderr(), code.Expires)()
	return device.Wait(ctx, code)
}

// countDown says once a second in a terminal that somebody is waited for, until it is stopped. Elsewhere it says nothing.
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

// showCountDown writes at each tick how long is left, in the place of what it wrote before, and takes that away at the end.
func showCountDown(w io.Writer, until time.Time, ticks <-chan time.Time, done <-chan struct{}) {
	const anew = "\r\x1b[K" // to the start of the line, and clear it
	for {
		select {
		case <-done:
			fmt.Fprint(w, anew)
			return
		case now := <-ticks:
			left := max(0, until.Sub(now)).Round(time.Second)
			fmt.Fprintf(w, anew+"waiting for the browser, %d:%02d left", left/time.Minute, left%time.Minute/time.Second)
		}
	}
}
