package app

import (
	"context"
	"net"
	"net/http"
	"strings"

	"github.com/chatguard/chatguard/internal/chat/twitch/api"
	"github.com/chatguard/chatguard/internal/chat/twitch/person"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/twitchsignin"
)

// SignInObstacle returns why nobody can sign in with Twitch although that is switched on. It is nil
// if nothing is in the way.
func SignInObstacle(c config.Config) *twitchsignin.Obstacle {
	if !c.Web.TwitchSignIn {
		return nil
	}
	if len(c.Twitch.Channels) == 0 && len(c.Web.Owners) == 0 {
		return &twitchsignin.Obstacle{Problem: "there is no owner, and no Twitch channel whose moderators could sign in", Fix: "list owners in web.owners, or channels in twitch.channels"}
	}
	_, obstacle := twitchsignin.WayOf(Site(c.Web), c.Twitch.ClientID, string(c.Twitch.ClientSecret))
	return obstacle
}

// ViewerObstacle returns why no viewer can sign in with Twitch although the page for viewers is
// switched on. It is nil if nothing is in the way.
func ViewerObstacle(c config.Config) *twitchsignin.Obstacle {
	if !c.Web.ViewerPage {
		return nil
	}
	way, obstacle := twitchsignin.WayOf(Site(c.Web), c.Twitch.ClientID, string(c.Twitch.ClientSecret))
	if way == twitchsignin.ByDevice {
		return &twitchsignin.Obstacle{Problem: "there is no client secret", Fix: "set CHATGUARD_TWITCH_CLIENT_SECRET to that of your Twitch application"}
	}
	return obstacle
}

// SignInRedirect returns the address that must be registered with the Twitch application, so that
// people can sign in by authorization code. It is empty if they can't, or by device code.
func SignInRedirect(c config.Config) string {
	site := Site(c.Web)
	if way, _ := twitchsignin.WayOf(site, c.Twitch.ClientID, string(c.Twitch.ClientSecret)); way != twitchsignin.ByCode {
		return ""
	}
	return browserAddress(site, "") + twitchsignin.Callback
}

// browserAddress returns the address at which browsers begin a sign-in with Twitch. addr is the
// listening address; empty means the configured one. Twitch sends people back to https addresses
// and to http://localhost, but to no other name of this machine.
func browserAddress(site access.Site, addr string) string {
	address := site.Address(addr)
	if !site.IsPrivate() {
		return address
	}
	_, port, err := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/"))
	if err != nil {
		return address
	}
	return "http://localhost:" + port + "/"
}

// SignInRedirect returns the address to which Twitch sends people who sign in by authorization
// code.
func (a *App) SignInRedirect() string {
	return browserAddress(a.site, a.address) + twitchsignin.Callback
}

// ViewerAddress returns the address of the page for viewers, of a channel. Viewers must open it
// under the name to which Twitch sends them back.
func (a *App) ViewerAddress(login string) string {
	return browserAddress(a.site, a.address) + "viewer/" + login
}

// openSignIns creates the sign-ins with Twitch, if they are switched on for moderators or viewers.
func (a *App) openSignIns(context.Context) (err error) {
	if !a.Config.Web.TwitchSignIn && !a.Config.Web.ViewerPage {
		return nil
	}
	client := api.NewClient()
	if a.dial != nil {
		client.Transport = &http.Transport{DialContext: a.dial}
	}
	a.closePeople = client.CloseIdleConnections
	a.owners = newOwners(func() []string { return a.directory.config().Web.Owners }, a.Host.Store, a.Host.Settings[""], a.log)
	a.signIns, err = twitchsignin.New(twitchsignin.Options{
		Site: a.site, Address: browserAddress(a.site, a.address), Dashboard: a.Config.Web.TwitchSignIn, Metrics: a.metrics, Log: a.log,
		Twitch:     func() (*person.Twitch, bool) { return a.people(client) },
		Channels:   a.servedOnTwitch,
		Moderators: a.Host.Controls.Settings.ModeratorRole,
		Owners:     a.owners,
	})
	return err
}

// runSignIns asks Twitch about the signed-in people until the context ends.
func (a *App) runSignIns(ctx context.Context) error {
	if a.signIns != nil {
		a.owners.forget()
		a.signIns.Run(ctx)
		a.closePeople()
	}
	return nil
}

// noteStaff records that a user became a moderator of a channel, or is no longer one.
func (a *App) noteStaff(channelID, userID string) {
	if a.signIns != nil {
		a.signIns.NoteChange(channelID, userID)
	}
}

// people returns Twitch for the people who sign in to the owner's application. ok is false if the
// application isn't known yet.
func (a *App) people(client *http.Client) (tw *person.Twitch, ok bool) {
	c, id := a.Config.Twitch, a.directory.config().Twitch.ClientID // a login of the bot may change the ID
	return &person.Twitch{
		HelixURL: c.HelixURL, Logger: a.log,
		Application: token.Application{AuthURL: c.AuthURL, ClientID: id, Secret: string(c.ClientSecret), HTTP: client},
	}, id != ""
}

// servedOnTwitch returns the logins of the channels that are read on Twitch, by their IDs.
func (a *App) servedOnTwitch() map[string]string {
	served := map[string]string{}
	for _, c := range a.Twitch.Status().Channels {
		if c.RoomID != "" {
			served[c.RoomID] = c.Login
		}
	}
	return served
}
