//go:build !race

package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/app/apptest"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/doctor"
)

// patient is a doctor's subject: a configuration and its fake Twitch, in a bubble of simulated
// time. Everything works at first.
type patient struct {
	*testing.T
	server *faketwitch.Server
	config config.Config
	now    func() time.Time
}

func newPatient(t *testing.T, o faketwitch.Options) *patient {
	t.Helper()
	o.InMemory, o.Channels = true, []string{demoChannel, "teatime"}
	server := twitchtest.StartWith(t, o)
	p := &patient{T: t, server: server, config: demoConfig(server, t.TempDir(), "127.0.0.1:0"), now: time.Now}
	p.config.Path, p.config.Twitch.Channels = "chatguard.toml", []string{demoChannel, "teatime"}
	p.config.Memory = 2 << 30
	p.config.Twitch.ClientID, p.config.Twitch.RefreshToken = server.ClientID(), config.Secret(server.RefreshToken())
	return p
}

// examine returns the doctor's report, line by line.
func (p *patient) examine() (report []string, err error) {
	p.Helper()
	var out strings.Builder
	d := doctor.New(p.config, p.server.Dial)
	d.Now = p.now
	before, journal := p.database()
	err = examine(p.Context(), d, &out)
	if after, left := p.database(); after != before || left != journal {
		p.Errorf("the doctor has changed the database, or its journal of %d bytes, which now has %d", len(journal), len(left))
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), err
}

// database returns what is in the database's files, except for the log.
func (p *patient) database() (contents, journal string) {
	file, _ := os.ReadFile(p.config.Database) // it may not exist
	beside, _ := os.ReadFile(p.config.Database + "-journal")
	return string(file), string(beside)
}

// checkReport checks that the doctor prints these lines. File names and addresses are as in
// patient.names; "…" stands for any text.
func (p *patient) checkReport(want string) {
	p.Helper()
	report, err := p.examine()
	text := p.names().Replace(strings.Join(report, "\n"))
	if problems := strings.Count("\n"+want, "\nproblem "); (err != nil) != (problems > 0) || problems != strings.Count("\n"+text, "\nproblem ") {
		p.Errorf("the doctor ends with %v, having written\n%s", err, text)
	}
	for _, line := range strings.Split(strings.TrimSpace(want), "\n") {
		parts := strings.Split(regexp.QuoteMeta(line), "…")
		if !regexp.MustCompile("(?m)^" + strings.Join(parts, ".*") + "$").MatchString(text) {
			p.Errorf("the doctor doesn't write\n%s\nbut\n%s", line, text)
		}
	}
}

// names returns a replacer that makes reports the same everywhere.
func (p *patient) names() *strings.Replacer {
	return strings.NewReplacer(p.config.TokenFile(), "TOKENFILE", p.folder()+string(filepath.Separator), "FOLDER/", p.server.IRCAddress(), "IRC", p.server.IRCWebSocketURL(), "WEBSOCKET",
		p.server.EventSubURL(), "EVENTSUB", p.server.HelixURL(), "HELIX", p.server.AuthURL(), "AUTH")
}

func (p *patient) folder() string { return filepath.Dir(p.config.Database) }

// listen takes a port and returns its address.
func (p *patient) listen() string {
	p.Helper()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(p, err)
	p.Cleanup(func() { taken.Close() })
	return taken.Addr().String()
}

func (p *patient) write(name, contents string, mode os.FileMode) {
	p.Helper()
	must(p, os.WriteFile(filepath.Join(p.folder(), name), []byte(contents), mode))
}

// knowChannel makes a database that knows a channel by a name.
func (p *patient) knowChannel(id, login string) {
	p.Helper()
	p.runOnce()
	alterDatabase(p.T, p.config.Database, "INSERT OR REPLACE INTO channel VALUES ('"+id+"', '"+login+"')")
}

// runOnce runs chatguard and ends it, so that its database and its token file exist.
func (p *patient) runOnce() {
	p.Helper()
	a, err := app.Open(p.Context(), app.Options{Config: p.config, Log: slog.New(slog.DiscardHandler), Dial: p.server.Dial, Listener: apptest.NewListener()})
	must(p, err)
	ctx, stop := context.WithCancel(p.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	err = p.server.WaitJoined(ctx, 1)
	stop()
	must(p, errors.Join(err, <-ended))
	a.Close()
}
