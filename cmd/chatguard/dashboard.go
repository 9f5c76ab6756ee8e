package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/persist/signin"
)

// printLink makes a sign-in link and prints it.
func printLink(ctx context.Context, a *app.App, out io.Writer) error {
	link, err := a.SignInLink(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Dashboard: %s\n(the link works once, within %.0f minutes)\n", link, signin.SignInTime.Minutes())
	return err
}

// printDashboard prints the dashboard's address. In a terminal it prints a sign-in link instead.
// Elsewhere it doesn't, because anyone who can read the logs could use the link.
func printDashboard(ctx context.Context, a *app.App, out io.Writer) error {
	how := "`chatguard signin` prints a sign-in link"
	if a.Config.NoDatabase {
		how = "without a database, only a start in a terminal prints a sign-in link; or sign in with CHATGUARD_WEB_TOKEN"
	}
	if isTerminal(out) {
		failed := printLink(ctx, a, out)
		if failed == nil {
			return nil
		}
		how = failed.Error() + "; then " + how
	}
	_, err := fmt.Fprintf(out, "Dashboard: %s\n(%s)\n", a.Address(), how)
	return err
}

// showDashboard opens the dashboard in the browser if a person sits at a terminal with a screen. It
// uses a link of its own, so that the printed one still works.
func showDashboard(ctx context.Context, a *app.App, out io.Writer) {
	if !isTerminal(out) {
		return
	}
	if link, err := a.SignInLink(ctx); err == nil { // otherwise printDashboard has said why
		openBrowser(out, link)
	}
}

// printRooms prints the mode of the channels that the configuration names for servers, and the
// address to which servers send requests. It prints nothing if there are no such channels.
func printRooms(a *app.App, out io.Writer) error {
	in := map[chatguard.Mode][]string{}
	for _, name := range a.Config.Check.Channels {
		mode := a.Guard.ChannelPolicy(app.RoomID(name)).Mode
		in[mode] = append(in[mode], name)
	}
	var does []string
	for _, mode := range slices.Sorted(maps.Keys(in)) {
		text := fmt.Sprintf("%ss in %s", mode, strings.Join(in[mode], ", "))
		if mode == chatguard.ModeObserve {
			text += ` (mode = "enforce" throttles)`
		}
		does = append(does, text)
	}
	if len(does) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(out, "Check: %s; servers ask at %sapi/v1/check\n", strings.Join(does, ", "), a.Address())
	return err
}
