package app

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/chatguard/chatguard/internal/chat/twitch/api"
	"github.com/chatguard/chatguard/internal/chat/twitch/person"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/chat/twitchbot"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/web/twitchsignin"
)

// signIns lets people sign in with Twitch. A nil *signIns means that nobody can.
type signIns struct {
	*twitchsignin.SignIns
	owners    *owners
	twitch    config.Twitch // at the start
	directory *directory
	bot       *twitchbot.Connection
	client    *http.Client // for the people who sign in
	log       *slog.Logger
}

// openSignIns creates the sign-ins with Twitch, if they are switched on for moderators or viewers.
func (a *App) openSignIns(context.Context) (err error) {
	if !a.Config.Web.TwitchSignIn && !a.Config.Web.ViewerPage {
		return nil
	}
	s := &signIns{twitch: a.Config.Twitch, directory: a.directory, bot: a.Twitch, client: api.NewClient(), log: a.log}
	if dial := a.options.Dial; dial != nil {
		s.client.Transport = &http.Transport{DialContext: dial}
	}
	s.owners = newOwners(func() []string { return a.directory.config().Web.Owners }, a.Host.Store, a.Host.Settings[""], a.log)
	s.SignIns, err = twitchsignin.New(twitchsignin.Options{
		Site: a.site, Address: browserAddress(a.site, a.address), Dashboard: a.Config.Web.TwitchSignIn, Metrics: a.metrics, Log: a.log,
		Twitch: s.people, Channels: s.channels, Moderators: a.Host.Controls.Settings.ModeratorRole, Owners: s.owners,
	})
	if err == nil {
		a.signIns = s
	}
	return err
}

// run asks Twitch about the signed-in people until the context ends.
func (s *signIns) run(ctx context.Context) error {
	if s != nil {
		s.owners.forget()
		s.Run(ctx)
		s.client.CloseIdleConnections()
	}
	return nil
}

// noteStaff records that a user became a moderator of a channel, or is no longer one.
func (s *signIns) noteStaff(channelID, userID string) {
	if s != nil {
		s.NoteChange(channelID, userID)
	}
}

// people returns the client through which people sign in with the owner's application. ok is false
// if the application's ID isn't known yet.
func (s *signIns) people() (tw *person.Twitch, ok bool) {
	c, id := s.twitch, s.directory.config().Twitch.ClientID // a login of the bot may change the ID
	return &person.Twitch{
		HelixURL: c.HelixURL, Logger: s.log,
		Application: token.Application{AuthURL: c.AuthURL, ClientID: id, Secret: string(c.ClientSecret), HTTP: s.client},
	}, id != ""
}

// channels returns the logins of the channels that are read on Twitch, by their IDs.
func (s *signIns) channels() map[string]string {
	served := map[string]string{}
	for _, c := range s.bot.Status().Channels {
		if c.RoomID != "" {
			served[c.RoomID] = c.Login
		}
	}
	return served
}
