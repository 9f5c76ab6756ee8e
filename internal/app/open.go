package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitchbot"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/host"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/node"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/signin"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/reports"
	"github.com/chatguard/chatguard/internal/request"
	"github.com/chatguard/chatguard/internal/web"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/check"
	"github.com/chatguard/chatguard/internal/web/live"
)

// openHost opens the database.
func (a *App) openHost(ctx context.Context) (err error) {
	opts := persist.Options{Logger: a.log, FlushInterval: a.Config.FlushInterval, Retention: time.Duration(a.Config.Retention), TextRetention: a.Config.TextRetention, Metrics: a.metrics}
	if a.Config.Shared.HasStore() && a.Config.Shared.TextKey == "" {
		opts.TextRetention = 0 // without the nodes' key, prints are of no use after a restart
	}
	if a.Config.NoDatabase {
		a.log.Warn("started without a database: nothing is kept after the end")
		a.Host, err = host.OpenMemory(ctx, opts)
	} else {
		if lacksTextKey(ctx, a.Config) {
			a.log.Warn("the key of texts is missing, so the database's hashes of texts are useless: limits on repeated text, and their previews, begin with the next message, with a new key",
				"file", a.Config.TextKeyFile())
		}
		a.Host, err = host.Open(ctx, a.Config.Database, opts)
	}
	switch {
	case errors.As(err, new(*sqlite.OwnedError)):
		return err
	case err != nil:
		return addDatabaseFix(err)
	}
	a.directory = newDirectory(a.Config, a.Host, a.log)
	return nil
}

// openNode opens the shared store, if the configuration has one. While the store is away, the bot
// decides by what this node knows.
func (a *App) openNode(ctx context.Context) (err error) {
	a.node, err = node.Open(ctx, node.Options{Config: a.Config, Log: a.log, Metrics: a.metrics, Version: a.options.Build.Version, Address: a.address})
	return err
}

// openGuard creates the Guard, its Policies and Controls, and the connection to Twitch, which
// provides the IDs of channels with their own policy.
func (a *App) openGuard(context.Context) (err error) {
	var chatTime *clock.Chat
	key, err := textKey(a.Config, a.openTextKey)
	if err != nil {
		return err
	}
	guarding := &chatguard.Options{TextKey: key, MaxMemory: int64(a.Config.MemoryPerTable), MaxTotalMemory: UsersMemoryOf(a.Config)}
	a.metrics.NewGauge("chatguard_users_memory_limit_bytes", func() float64 { return float64(guarding.MaxTotalMemory) })
	if len(a.Config.Twitch.Channels) > 0 {
		chatTime = clock.NewChat(nil)
		guarding.Now = chatTime.Now
	}
	a.node.Share(guarding)
	if a.Guard, err = chatguard.New(ownPart(a.Config, a.Config.Policy), guarding); err != nil {
		return err
	}
	a.node.Join(a.Guard)
	settings := host.SettingsOf(a.Config)
	err = a.Host.Join(a.Guard, host.Options{
		Policies: policies.Options{
			Base: configured{a.Config, a.directory}, Acceptable: a.acceptable, Fix: a.directory.discardHint, Documents: a.node.Documents(),
		},
		Settings: &settings, Acts: true, StateElsewhere: a.node.KeepsState(),
	})
	if err != nil {
		return err
	}
	a.Twitch = twitchbot.Offline(a.log)
	if chatTime != nil {
		chatTime.SetBack = a.Guard.Rewind
		a.Twitch = twitchbot.New(twitchbot.Options{
			Config: a.Config.Twitch, Tokens: twitchbot.TokensOf(a.Config, a.log), Log: a.log, ChatTime: chatTime, Dial: a.options.Dial,
			Entered: a.directory.enter, IDOf: a.directory.id, Accepts: a.directory.accepts, Hold: a.Host.Controls.Switches.Hold, NoteStream: a.noteStream,
			StaffChanged: func(channelID, userID string) { a.signIns.noteStaff(channelID, userID) },
			Silenced: func(channelID, userID, login string) {
				a.Host.Policies.Followers.Notify(func(f policies.Follower) { f.Silenced(channelID, userID, login) })
			},
			ModesChanged: func(string) { a.Web.ChannelsChanged() }, // reading begins when the dashboard is there
		})
	}
	return nil
}

// acceptable refuses a policy that the configuration at the start rules out in a channel.
func (a *App) acceptable(id string, p chatguard.Policy) error {
	return acceptable(a.Config, id, p)
}

// maxStreams is the maximum number of recorded streams that are read at the start.
const maxStreams = 1000

// restore makes the Guard continue where the last process ended.
func (a *App) restore(ctx context.Context) error {
	// Requests that arrive from now on are for this process.
	if err := (request.Queue{Path: a.Host.Store.Path()}).Forget(); err != nil {
		a.log.Warn("old requests can't be deleted", "error", err)
	}
	if tokens := a.Twitch.Tokens(); tokens != nil {
		if err := tokens.Load(ctx); err != nil {
			return err
		}
	}
	if err := a.directory.lookUpChannels(ctx, a.Twitch); err != nil {
		return addDatabaseFix(err)
	}
	streams, err := a.Host.Store.Streams(ctx, "", maxStreams)
	if err != nil {
		return addDatabaseFix(err)
	}
	a.Twitch.RestoreStreams(streams)
	began := time.Now()
	stats, err := a.Host.Restore(ctx)
	switch {
	case errors.As(err, new(*policies.Error)):
		return err
	case err != nil:
		return addDatabaseFix(err)
	}
	var values []any
	if stats.Interrupted > 0 {
		values = append(values, "interrupted_penalties", stats.Interrupted)
		pending := journal.EntryFilter{Action: string(chatguard.ActionBan), Result: journal.Pending, N: reports.MaxBans}
		if a.interruptedBans, err = a.Host.Store.Entries(ctx, pending); err != nil {
			return addDatabaseFix(err)
		}
	}
	switch {
	case a.node.KeepsState():
		a.log.Info("users' state is kept in the shared store", values...)
	case stats.Rows > 0:
		values = append(values, "rows", stats.Rows, "took", time.Since(began).Round(time.Millisecond))
		a.log.Info("restored the state of the last process", values...)
	}
	return nil
}

// openBot creates the bot and lets Controls act in its chat.
func (a *App) openBot(context.Context) error {
	options := chat.Options{
		Guard: a.Guard, Source: chat.Source(a.Twitch), Moderator: a.Twitch.Moderator(), Logger: a.log, Report: a.report,
		Moderates: a.Twitch.Moderates,
		Commit:    a.Host.Store.Commit,
		Notices:   a.notices,
		SlowMode:  a.Config.Twitch.SlowMode, SlowModes: map[string]string{}, Settings: a.Host.Store,
	}
	if a.signIns != nil {
		options.Source = a.signIns.Watch(options.Source)
	}
	if standby := a.node.Standby; standby != nil {
		options.Source, options.Moderator = standby.Source(options.Source), standby.Moderator(options.Moderator)
	}
	if a.Config.Twitch.Commands {
		options.Answer = a.Host.Controls.Commands.Answer
	}
	for channelID, settings := range a.Host.Settings {
		if was := settings[chat.SlowModeSetting]; was != "" {
			options.SlowModes[channelID] = was
		}
	}
	a.Bot = chat.New(options)
	users, acts := &users{a.Host.Store, a.Twitch, a.log}, &acts{a.Twitch, a.Bot, a.directory, a.log}
	a.Host.Controls.Join(control.Chat{User: users.find, Lift: acts.lift(), Forgive: a.Bot.Forgive, Acts: acts.given()})
	return nil
}

// notices returns the notices of a channel.
func (a *App) notices(channelID string) chat.Notices {
	settings, _ := a.Host.Controls.Settings.Of(channelID)
	return chat.Notices{Text: settings.Notices.Text, Cooldown: time.Duration(settings.Notices.Cooldown), Language: settings.Notices.Language}
}

// openWeb creates the dashboard and shows in it the users who are still throttled.
func (a *App) openWeb(ctx context.Context) (err error) {
	store := a.Host.Store
	shown := a.status()
	if len(a.Config.Twitch.Channels) > 0 {
		shown.register(a.metrics)
	}
	options := web.Options{
		Live: live.Options{
			Guard: a.Guard, Policies: a.Host.Policies, Controls: a.Host.Controls, Records: store,
			Channels: shown.channels, Unidentified: shown.unidentified, Connections: shown.connections, Database: a.Host.Database, Repeats: a.Host.Repeats.Of, ColorOf: a.Bot.ColorOf, Shared: a.node.State,
			Metrics: a.metrics, Log: a.log,
		},
		Access: access.Options{
			Site: a.site, Sessions: store.Tokens, WrongCode: signin.ErrCode, Now: a.Guard.Now, Log: a.log,
		},
		Check: check.Options{Guard: a.Guard, Space: RoomSpace, Listed: a.directory.isListed, Entered: a.directory.enterRoom, Report: a.Host.Report},
		Store: store, Grants: store.Tokens, Record: store.Record,
		Nodes: a.node.Nodes, Leads: a.node.Leads, ExportPolicy: config.WritePolicy, Webhooks: a.Webhooks,
	}
	if a.login = newBotLogin(a); a.login != nil {
		options.Login, options.Setup = a.login, a.login.setup
	}
	if a.signIns != nil {
		options.Access.Members, options.TwitchSignIn, options.ViewerPage = a.signIns.SignIns, a.signIns.SignIns, a.Config.Web.ViewerPage
	}
	a.Web, err = web.New(options)
	if err != nil {
		return err
	}
	a.Host.Follow(a.Web)
	a.Host.Policies.Followers.Watch(a.Web.Made)
	waiting, err := store.Throttled(ctx, a.Guard.Now().Add(-live.Recent), live.MaxRows)
	if err != nil {
		return addDatabaseFix(err)
	}
	a.Web.Preload(waiting)
	return nil
}

// addDatabaseFix adds the fix to an error from opening or reading the database.
func addDatabaseFix(err error) error {
	return fmt.Errorf("%w; `chatguard run --no-database` moderates without it", err)
}
