//go:build !race

package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/persist/persisttest"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// TestDoctor_NoProblems checks a report without problems over each transport. Reading requires only
// one channel.
func TestDoctor_NoProblems(t *testing.T) {
	t.Parallel()
	for transport, address := range map[string]string{"irc": "IRC", "irc-websocket": "WEBSOCKET", "eventsub": "EVENTSUB"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPatient(t, faketwitch.Options{})
				p.runOnce()
				p.now = func() time.Time { return time.Date(2026, 3, 28, 21, 30, 0, 0, time.UTC) }
				p.config.Policy.Timezone = "Europe/Berlin"
				p.config.Twitch.Transport = transport
				p.config.Twitch.EventSubURL, p.config.Twitch.IRCWebSocketURL = p.server.EventSubURL(), p.server.IRCWebSocketURL()
				p.server.FailNext(faketwitch.Fault{Status: faketwitch.AsAsked, Header: http.Header{"Date": {p.now().Format(http.TimeFormat)}}})
				report, err := p.examine()
				text := regexp.MustCompile(`until .*`).ReplaceAllString(p.names().Replace(strings.Join(report, "\n")), "until …")
				want := strings.TrimPrefix(`
ok       configuration  chatguard.toml: enforces in #gardenhour, #teatime
ok       memory         512MiB for the users of a channel: about 7.0 million at once; 2GiB in all for chatguard, half of it for users
ok       environment    variables that override the file: nothing
ok       database       FOLDER/chatguard.db, not in use
ok       zone           Europe/Berlin: it is Sat 2026-03-28 22:30 CET there, and the day ends at Sun 2026-03-29 00:00 CET
ok       dashboard      127.0.0.1:0 is free
ok       clock          within 5 s of Twitch's
ok       token file     TOKENFILE, which nobody else can read
ok       token          that of chatguard_bot, good until …
ok       scopes         the token has all scopes that are needed
ok       channel        Twitch has #gardenhour, #teatime
ok       moderator      chatguard_bot is a moderator in #gardenhour, #teatime
ok       chat           #gardenhour can be read over `+transport+" at "+address+", as chatguard_bot", "\n")
				if err != nil || text != want {
					t.Errorf("%v\n%s\nwant\n%s", err, text, want)
				}
			})
		})
	}
}

// TestDoctor_Problems checks that each problem is reported with its fix, and that the
// other checks still run.
func TestDoctor_Problems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(p *patient)
		want  string
	}{
		"nothing to moderate": {func(p *patient) { p.config.Twitch.Channels = nil }, `
problem  configuration  chatguard.toml: twitch.channels: is empty
                        name the channel to moderate, or in check.channels the chats of a server of your own`},
		"no channel that exists": {func(p *patient) { p.config.Twitch.Channels = []string{"gardenhuor"} }, `
problem  channel        Twitch has no channel "gardenhuor"
                        correct twitch.channels in chatguard.toml
note     moderator      skipped: Twitch has confirmed no channel
note     chat           not read: twitch.channels names no channel that exists`},
		"a channel with another name": {func(p *patient) {
			p.knowChannel(p.server.UserID(demoChannel), demoChannel)
			own := p.config.Policy.Clone()
			own.Mode = chatguard.ModeObserve
			p.config.Channels = map[string]chatguard.Policy{demoChannel: own} // applies by the former name
			p.server.Rename(demoChannel, "nightgarden")
			p.server.SetBotModerator("nightgarden", false)
		}, `
problem  channel        #gardenhour is called nightgarden on Twitch by now, and is read by that name
                        correct twitch.channels in chatguard.toml
note     moderator      chatguard_bot is not a moderator in #nightgarden, which isn't needed to observe
ok       moderator      chatguard_bot is a moderator in #teatime
ok       chat           #nightgarden can be read over …`},
		"a name that is another account's": {func(p *patient) { p.knowChannel("77", "teatime") }, `
problem  channel        the name "teatime" is another account's by now: ID 1000003 instead of 77
                        correct twitch.channels in chatguard.toml, or add a table [channel.1000003] if you mean that one
ok       moderator      chatguard_bot is a moderator in #gardenhour`},
		"too many channels for EventSub": {func(p *patient) {
			p.config.Twitch.Transport, p.config.Twitch.EventSubURL = config.TransportEventSub, p.server.EventSubURL()
			for i := range 150 {
				p.config.Twitch.Channels = append(p.config.Twitch.Channels, fmt.Sprint("channel", i))
				p.server.AddChannel(fmt.Sprint("channel", i))
			}
		}, `
problem  configuration  chatguard.toml: twitch.channels: names 152, but EventSub supports 150
                        name fewer, or set twitch.transport to irc
note     chat           not read: twitch.channels names too many`},
		"a policy for servers": {func(p *patient) {
			p.config.Policy.Penalties.Ladder = []chatguard.Penalty{{Action: chatguard.ActionDrop}}
		}, `
problem  configuration  chatguard.toml: penalties.ladder: has "drop", which only a chat server can
                        use "delete"`},
		"a limit that delays": {func(p *patient) {
			p.config.Policy.Limits[0] = chatguard.Limit{Name: "calm", Algorithm: chatguard.LeakyBucket, Every: time.Second, Queue: 2}
		}, `
note     configuration  limit "calm": a bot can't hold messages, so the delay of a leaky-bucket has no effect: …`},
		"repeated text without hashes": {func(p *patient) {
			p.config.Policy.Limits[0] = chatguard.Limit{Name: "copies", Per: chatguard.PerText, Algorithm: chatguard.SlidingLog, Messages: 3, Every: time.Minute}
			p.config.TextRetention = 0
		}, `
note     configuration  limit "copies": previews count no repeated text, because text_retention is "0s"; with "24h", they count that of the last 24 hours`},
		"long rows and little memory": {func(p *patient) {
			p.config.MemoryPerTable = 64 << 20
			p.config.Policy.Limits[0] = chatguard.Limit{Name: "hour", Algorithm: chatguard.SlidingLog, Messages: 1024, Every: time.Hour}
		}, `
ok       memory         64MiB for the users of a channel: about 6,700 at once; 2GiB in all for chatguard, half of it for users`},
		"repeated text": {func(p *patient) {
			p.config.Policy.Limits = append(p.config.Policy.Limits, chatguard.Limit{Name: "copies", Algorithm: chatguard.SlidingLog, Per: chatguard.PerText, Messages: 3, Every: time.Minute})
		}, `
ok       memory         limits on repeated text: about 1.1 million texts of a channel at once`},
		"less memory in all than per table": {func(p *patient) { p.config.Memory = 64 << 20 }, `
ok       memory         32MiB for the users of a channel: about 435,200 at once; 64MiB in all for chatguard, half of it for users`},
		"a table for nobody": {func(p *patient) { p.config.Channels = map[string]chatguard.Policy{"gardenhuor": p.config.Policy} }, `
note     configuration  [channel.gardenhuor] is for a channel that isn't in twitch.channels: it has no effect unless a server asks about it`},
		"days of several zones": {func(p *patient) {
			own := p.config.Policy.Clone()
			own.Limits[1].Timezone, own.Limits[1].ResetAt = "Asia/Tokyo", "04:00"
			p.config.Channels = map[string]chatguard.Policy{"teatime": own}
		}, `
ok       zone           UTC: it is … UTC there, and the day ends at … 00:00 UTC
ok       zone           Asia/Tokyo: it is … JST there, and the day ends at … 04:00 JST`},
		"no folder": {func(p *patient) { p.config.Database = filepath.Join(p.folder(), "gone", "chatguard.db") }, `
problem  database       FOLDER/chatguard.db can't be created: its folder doesn't exist
                        create that folder, or set another database
problem  token file     token file TOKENFILE can't be written (no such file or directory)
                        make its folder writable for chatguard's user
note     token          skipped: fix the token file first`},
		"a link to nothing": {func(p *patient) {
			must(p, os.Symlink(filepath.Join(p.folder(), "gone", "chatguard.db"), p.config.Database))
		}, `
problem  database       FOLDER/gone/chatguard.db can't be created: its folder doesn't exist
                        create that folder, or set another database`},
		"a rescued database": {func(p *patient) { p.write("chatguard.db.rescued", "", 0o600) }, `
problem  database       database FOLDER/chatguard.db doesn't exist, but FOLDER/chatguard.db.rescued has all of it
                        move that file into its place, or delete it to start with an empty one`},
		"no database": {func(p *patient) { p.write("chatguard.db", strings.Repeat("spoilt ", 1000), 0o600) }, `
problem  database       database FOLDER/chatguard.db: it is damaged, or not a database
                        restore a backup, move it away to start with an empty one, or set another file`},
		"a damaged page": {func(p *patient) {
			p.runOnce()
			contents, err := os.ReadFile(p.config.Database)
			must(p, err)
			p.write("chatguard.db", string(contents[:3*4096])+strings.Repeat("spoilt ", 4096/7)+string(contents[3*4096+4096/7*7:]), 0o600)
		}, `
problem  database       database FOLDER/chatguard.db: it is damaged, or not a database…
                        restore a backup, move it away to start with an empty one, or set another file`},
		"a database of an older version": {func(p *patient) {
			p.runOnce()
			alterDatabase(p.T, p.config.Database, "DROP TABLE webhook; DROP TABLE webhook_delivery; ALTER TABLE timeline DROP COLUMN kinds; "+
				"ALTER TABLE timeline DROP COLUMN print; ALTER TABLE journal DROP COLUMN repeat_times; ALTER TABLE journal DROP COLUMN repeat_people; ALTER TABLE journal DROP COLUMN repeat_window; PRAGMA user_version = 10")
		}, `
note     database       FOLDER/chatguard.db is from an older version: ` + "`chatguard run`" + ` keeps a copy and upgrades it
ok       database       FOLDER/chatguard.db, not in use`},
		"a table that another program has deleted": {func(p *patient) {
			p.runOnce()
			alterDatabase(p.T, p.config.Database, "DROP TABLE journal")
		}, `
problem  database       database FOLDER/chatguard.db was changed by another program, and lacks the table journal
                        restore a backup, or set another database`},
		"a database and a folder that others can use": {func(p *patient) {
			p.runOnce()
			must(p, errors.Join(os.Chmod(p.config.Database, 0o644), os.Chmod(p.folder(), 0o777)))
		}, `
problem  database       database FOLDER/chatguard.db can be read by other users of this machine
                        chmod 600 FOLDER/chatguard.db
problem  database       other users of this machine can create files in …, where the database is
                        move the database to a private folder, or run chmod go-w …
ok       database       FOLDER/chatguard.db, not in use`},
		"an unfinished file of a killed restore": {func(p *patient) {
			p.runOnce()
			p.write("chatguard.db.token.chatguard-part", "", 0o600)
		}, `
note     database       TOKENFILE.chatguard-part is an unfinished file from a killed process: delete it, or run chatguard as the owner of its folder to delete it
ok       database       FOLDER/chatguard.db, not in use`},
		"an interrupted write": {func(p *patient) {
			p.runOnce()
			persisttest.Interrupt(p.T, p.config.Database, "CREATE TABLE new AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9999) SELECT i FROM n")
		}, `
note     database       FOLDER/chatguard.db can't be checked yet: a write to it was interrupted; ` + "`chatguard run`" + ` undoes that`},
		"a database of a newer version": {func(p *patient) {
			p.runOnce()
			alterDatabase(p.T, p.config.Database, "PRAGMA user_version = 99")
		}, `
problem  database       database FOLDER/chatguard.db was written by a newer chatguard (version 99, this one knows up to …)
                        update chatguard, or set another database`},
		"a folder as a database": {func(p *patient) {
			p.config.Database = filepath.Join(p.folder(), "folder.db")
			must(p, os.Mkdir(p.config.Database, 0o700))
		}, `
problem  database       FOLDER/folder.db is not a file
                        set another database`},
		"a proxy that isn't trusted": {func(p *patient) { p.config.Web.PublicURL = "https://chat.example.org" }, `
ok       dashboard      127.0.0.1:0 is free
problem  dashboard      web.public_url is set, but web.trusted_proxies is empty: everybody who comes through the proxy counts as one address
                        set web.trusted_proxies to the proxy's address, such as ["127.0.0.1"] for one on this machine`},
		"a public address without a proxy": {func(p *patient) {
			p.config.Web.PublicURL, p.config.Web.TLSCert, p.config.Web.TLSKey = "https://chat.example.org", "cert.pem", "key.pem"
		}, `
problem  dashboard      [web] tls_cert, tls_key: …`},
		"a sign-in with Twitch without a secret": {func(p *patient) {
			p.config.Web.TwitchSignIn, p.config.Web.PublicURL, p.config.Web.TrustedProxies = true, "https://chat.example.org", []config.Proxy{{}}
		}, `
ok       dashboard      127.0.0.1:0 is free
problem  dashboard      nobody can sign in with Twitch: there is no client secret
                        set CHATGUARD_TWITCH_CLIENT_SECRET to that of your Twitch application`},
		"a sign-in with Twitch by code": {func(p *patient) {
			p.config.Web.TwitchSignIn, p.config.Web.PublicURL, p.config.Web.TrustedProxies = true, "https://chat.example.org/guard", []config.Proxy{{}}
			p.config.Twitch.ClientSecret = "fake0client0secret"
		}, `
ok       dashboard      127.0.0.1:0 is free
ok       dashboard      people sign in with Twitch; https://chat.example.org/guard/signin/twitch/callback must be an OAuth Redirect URL of your Twitch application`},
		"a sign-in with Twitch by device": {func(p *patient) { p.config.Web.TwitchSignIn = true }, `
ok       dashboard      127.0.0.1:0 is free
ok       dashboard      people sign in with Twitch by a code, at this machine only`},
		"viewers without a secret": {func(p *patient) { p.config.Web.ViewerPage = true }, `
ok       dashboard      127.0.0.1:0 is free
problem  dashboard      no viewer can sign in with Twitch: there is no client secret
                        set CHATGUARD_TWITCH_CLIENT_SECRET to that of your Twitch application`},
		"an address in use": {func(p *patient) { p.config.Web.Listen = p.listen() }, `
problem  dashboard      127.0.0.1:… is in use by another program
                        stop that one, or set [web] listen to another port`},
		"open to other machines without a password": {func(p *patient) { p.config.Web.Listen, p.config.Web.Token = "0.0.0.0:0", "" }, `
problem  dashboard      chatguard.toml: web.listen: 0.0.0.0:0 is open to other machines
                        set CHATGUARD_WEB_TOKEN to a long random text, or listen on 127.0.0.1`},
		"an address of another machine": {func(p *patient) { p.config.Web.Listen, p.config.Web.Token = "192.0.2.1:8080", webToken }, `
problem  dashboard      [web] listen: …
                        set listen, tls_cert and tls_key in [web] to what this machine has`},
		"a clock ahead": {func(p *patient) { p.now = func() time.Time { return time.Now().Add(time.Hour) } }, `
problem  clock          this machine's clock is …m…s ahead of Twitch's
                        set this machine's clock from the network (NTP)`},
		"a clock behind": {func(p *patient) { p.now = func() time.Time { return time.Now().Add(-time.Minute) } }, `
problem  clock          this machine's clock is …s behind Twitch's
                        set this machine's clock from the network (NTP)`},
		"a database for everybody": {func(p *patient) {
			p.runOnce()
			must(p, os.Chmod(p.config.Database, 0o666))
		}, `
problem  database       database FOLDER/chatguard.db can be read and changed by other users of this machine
                        chmod 600 FOLDER/chatguard.db
ok       database       FOLDER/chatguard.db, not in use`},
		"a key of texts for everybody": {func(p *patient) {
			p.runOnce()
			must(p, os.Chmod(p.config.TextKeyFile(), 0o644))
		}, `
problem  database       the key of texts FOLDER/chatguard.db.textkey can be read by other users of this machine
                        chmod 600 FOLDER/chatguard.db.textkey
ok       database       FOLDER/chatguard.db, not in use`},
		"a damaged key of texts": {func(p *patient) {
			p.runOnce()
			p.write(filepath.Base(p.config.TextKeyFile()), "spoilt", 0o600)
		}, `
problem  database       the key of texts FOLDER/chatguard.db.textkey is damaged
                        restore it from an encrypted backup, or delete it; chatguard then makes a new one, and forgets which texts were repeated
ok       database       FOLDER/chatguard.db, not in use`},
		"a token for everybody": {func(p *patient) {
			p.runOnce()
			must(p, os.Chmod(p.config.TokenFile(), 0o644))
		}, `
problem  token file     token file TOKENFILE can be read by other users of this machine
                        chmod 600 TOKENFILE
ok       token          that of chatguard_bot, good until …`},
		"a spoilt token file": {func(p *patient) { p.write(filepath.Base(p.config.TokenFile()), "spoilt", 0o600) }, `
problem  token file     token file TOKENFILE isn't what ` + "`chatguard login`" + ` writes
                        run ` + "`chatguard login`" + ` again
problem  token          token file TOKENFILE isn't what ` + "`chatguard login`" + ` writes
                        run ` + "`chatguard login`" + ` again
ok       chat           #gardenhour can be read over irc at IRC, without an account`},
		"no token": {func(p *patient) { p.config.Twitch.Token, p.config.Twitch.RefreshToken = "", "" }, `
ok       configuration  chatguard.toml: enforces in #gardenhour, #teatime
note     token file     TOKENFILE doesn't exist yet: ` + "`chatguard login`" + ` creates it
problem  token          there is none: chatguard only observes, although it should enforce
                        run ` + "`chatguard login`" + `
note     scopes         skipped: needs a valid token
note     channel        skipped: needs a valid token
note     moderator      skipped: needs a valid token
ok       chat           #gardenhour can be read over irc at IRC, without an account`},
		"no token, and only observing": {func(p *patient) {
			p.config.Twitch.Token, p.config.Twitch.RefreshToken, p.config.Policy.Mode = "", "", chatguard.ModeObserve
		}, `
note     token          there is none: chatguard only reads until you run ` + "`chatguard login`" + `
ok       chat           #gardenhour can be read over irc at IRC, without an account`},
		"no token, which EventSub needs": {func(p *patient) {
			p.config.Twitch.Token, p.config.Twitch.RefreshToken, p.config.Policy.Mode = "", "", chatguard.ModeObserve
			p.config.Twitch.Transport = config.TransportEventSub
		}, `
problem  token          there is none, and EventSub needs one
                        run ` + "`chatguard login`" + `
note     chat           skipped: needs a valid token`},
		"a revoked token": {func(p *patient) { p.server.Revoke() }, `
problem  token          Twitch no longer accepts it
                        run ` + "`chatguard login`" + `
ok       chat           #gardenhour can be read over irc at IRC, without an account`},
		"an expired token": {func(p *patient) { p.server.ExpireTokens() }, `
ok       token          that of chatguard_bot, good until …
ok       chat           #gardenhour can be read over irc at IRC, as chatguard_bot`},
		"a token that can't be renewed": {func(p *patient) { p.config.Twitch.RefreshToken = "" }, `
ok       token          that of chatguard_bot, good until …
note     token          it can't be renewed and works until it expires: a token from ` + "`chatguard login`" + ` renews itself
ok       chat           #gardenhour can be read over irc at IRC, as chatguard_bot`},
		"another application's token": {func(p *patient) { p.config.Twitch.ClientID = "another0client0id" }, `
problem  token          that of chatguard_bot was made for a different application than twitch.client_id
                        run ` + "`chatguard login`" + ` again
ok       moderator      chatguard_bot is a moderator in #gardenhour, #teatime`},
		"an identity server in trouble": {func(p *patient) { p.server.FailAuth(&faketwitch.Fault{Status: http.StatusServiceUnavailable}) }, `
problem  token          it can't be checked with Twitch: …status 503…
                        check status.twitch.tv, and this machine's network and firewall
ok       chat           #gardenhour can be read over irc at IRC, without an account`},
		"a channel that doesn't exist": {func(p *patient) { p.config.Twitch.Channels = []string{"gardenhuor", "teatime"} }, `
problem  channel        Twitch has no channel "gardenhuor"
                        correct twitch.channels in chatguard.toml
ok       moderator      chatguard_bot is a moderator in #teatime
ok       chat           #teatime can be read over irc at IRC, as chatguard_bot`},
		"a channel that doesn't exist, without a token": {func(p *patient) {
			p.config.Twitch.Token, p.config.Twitch.RefreshToken, p.config.Policy.Mode = "", "", chatguard.ModeObserve
			p.config.Twitch.Channels = []string{"gardenhuor"}
		}, `
problem  chat           #gardenhuor can't be read over irc at IRC: This channel does not exist or has been suspended.
                        correct twitch.channels in chatguard.toml`},
		"a channel that lets nobody in": {func(p *patient) { p.server.IgnoreJoins(1) }, `
problem  chat           irc at IRC doesn't let us into #gardenhour
                        correct twitch.channels in chatguard.toml`},
		"no moderator": {func(p *patient) { p.server.SetBotModerator("teatime", false) }, `
problem  moderator      chatguard_bot is not a moderator in #teatime, so it only observes there
                        type /mod chatguard_bot in the chat of teatime
ok       moderator      chatguard_bot is a moderator in #gardenhour`},
		"no moderator, and only observing": {func(p *patient) {
			p.server.SetBotModerator("teatime", false)
			p.config.Policy.Mode = chatguard.ModeObserve
		}, `
note     moderator      chatguard_bot is not a moderator in #teatime, which isn't needed to observe`},
		"a Helix in trouble": {func(p *patient) {
			p.server.SetHelixFaults(func(faketwitch.Request) (faketwitch.Fault, bool) {
				return faketwitch.Fault{Status: http.StatusServiceUnavailable, Message: "tea"}, true
			})
		}, `
ok       clock          within 5 s of Twitch's
problem  channel        look users up: Twitch could not be reached or failed (Twitch: status 503, tea)
                        check status.twitch.tv and this machine's network
note     moderator      skipped: Twitch has confirmed no channel
ok       chat           #gardenhour can be read over irc at IRC, as chatguard_bot`},
		"a Helix that never answers": {func(p *patient) {
			p.server.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) {
				return faketwitch.Fault{Status: faketwitch.AsAsked, Delay: time.Hour}, r.Path == "/helix/moderation/channels"
			})
		}, `
problem  moderator      no answer within 5 s
                        check status.twitch.tv, and this machine's network and firewall`},
		"a Helix nowhere": {func(p *patient) { p.config.Twitch.HelixURL = "http://127.0.0.1:99/helix" }, `
problem  clock          the time can't be read from Twitch: Get "http://127.0.0.1:99/helix/users": fake twitch: nothing listens in memory at 127.0.0.1:99
                        check status.twitch.tv, and this machine's network and firewall
problem  channel        look users up: Twitch could not be reached or failed (Get "http://127.0.0.1:99/helix/users…": fake twitch: nothing listens in memory at 127.0.0.1:99)
                        check status.twitch.tv and this machine's network
note     moderator      skipped: Twitch has confirmed no channel`},
		"a chat nowhere": {func(p *patient) { p.config.Twitch.IRCAddress = "127.0.0.1:99" }, `
problem  chat           irc at 127.0.0.1:99 can't be reached: can't reach the chat server: fake twitch: nothing listens in memory at 127.0.0.1:99
                        check status.twitch.tv, and this machine's network and firewall, or set twitch.transport to another one`},
		"a chat without a welcome": {func(p *patient) { p.server.StallLogins(9) }, `
problem  chat           irc at IRC can't be reached: no answer within 5 s
                        check status.twitch.tv, and this machine's network and firewall, or set twitch.transport to another one`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPatient(t, faketwitch.Options{})
				c.spoil(p)
				p.checkReport(c.want)
			})
		})
	}
}

// TestDoctor_OwnedDatabase checks that the files which the database's owner may be writing aren't
// called abandoned.
func TestDoctor_OwnedDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPatient(t, faketwitch.Options{})
		p.runOnce()
		p.write("chatguard.db.v3.chatguard-part", "", 0o600)
		held, err := sqlite.Hold(p.config.Database)
		must(t, err)
		defer held.Release()
		p.write("chatguard.db-wal", "", 0o600) // as if it had opened the database
		report, _ := p.examine()
		if text := strings.Join(report, "\n"); strings.Contains(text, "unfinished") || !strings.Contains(text, "chatguard.db, in use by process ") {
			t.Errorf("the doctor writes\n%s", text)
		}
	})
}

// TestDoctor_MissingScopes checks that the report says what a token with missing scopes can't
// do.
func TestDoctor_MissingScopes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPatient(t, faketwitch.Options{Scopes: []string{"chat:read", "user:write:chat", "moderator:manage:chat_messages", "moderator:manage:banned_users",
			"moderator:manage:chat_settings"}})
		p.checkReport(`
problem  scopes         the token lacks moderator:manage:warnings (warn), user:read:moderated_channels (see where the bot is a moderator)
                        run ` + "`chatguard login`" + ` again
problem  moderator      list moderated channels: the token lacks a scope (Twitch: status 401, Missing scope: user:read:moderated_channels)
                        run ` + "`chatguard login`" + ` again`)
	})
}
