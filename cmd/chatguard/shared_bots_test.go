//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/redistest"
	"github.com/chatguard/chatguard/internal/waittest"
)

// twoChannels is two bots in the same two channels.
type twoChannels struct {
	*testing.T
	redis  *redistest.Server
	twitch *faketwitch.Server
	bots   []*process
	mu     sync.Mutex
	want   []string // messages to delete
}

var channelNames = []string{"gardenhour", "nightwatch"}

func startTwoChannels(t *testing.T) *twoChannels {
	t.Helper()
	redis := redistest.Start(t)
	server, err := faketwitch.Start(faketwitch.Options{Channels: channelNames})
	must(t, err)
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	c := &twoChannels{T: t, redis: redis, twitch: server}
	for i := range 2 {
		s := &scene{T: t, configuration: filepath.Join(t.TempDir(), "chatguard.toml")}
		text := fmt.Sprintf("[twitch]\nchannels = [%q, %q]\nirc_address = %q\nirc_tls = false\nhelix_url = %q\nauth_url = %q\n[web]\nlisten = \"127.0.0.1:0\"\n%s%s",
			channelNames[0], channelNames[1], server.IRCAddress(), server.HelixURL(), server.AuthURL(), threeMessages, sharedTable(redis, fmt.Sprint("bot-", i)))
		must(t, os.WriteFile(s.configuration, []byte(text), 0o600))
		c.bots = append(c.bots, startCommand(t, s.runCommand(), "CHATGUARD_TWITCH_TOKEN="+server.Token(), "CHATGUARD_WEB_TOKEN="+webToken))
	}
	awaitJoined(t, server, 2*len(channelNames))
	return c
}

// flood writes messages of one user into both channels, at the same time. The first allowed
// messages stay.
func (c *twoChannels) flood(login string, messages, allowed int) {
	c.Helper()
	var writers sync.WaitGroup
	for _, channel := range channelNames {
		writers.Go(func() {
			for i := range messages {
				id, err := c.twitch.Say(faketwitch.Line{Channel: channel, Login: login, Text: "hello"})
				if err != nil {
					c.Error(err)
				}
				if i >= allowed {
					c.mu.Lock()
					c.want = append(c.want, id)
					c.mu.Unlock()
				}
			}
		})
	}
	writers.Wait()
}

// checkDeleted waits until the messages to delete are deleted, and checks that no other one was,
// and none twice.
func (c *twoChannels) checkDeleted() {
	c.Helper()
	deleted := func() (ids []string) {
		for _, d := range c.twitch.Deletes() {
			ids = append(ids, d.Message.ID)
		}
		slices.Sort(ids)
		return ids
	}
	slices.Sort(c.want)
	waittest.Until(c.T, func() bool { return len(deleted()) >= len(c.want) })
	if got := deleted(); !slices.Equal(got, c.want) {
		c.Errorf("deleted %v, want %v", got, c.want)
	}
}

// leads returns in how many channels a bot has begun to act.
func (p *process) leads() int { return strings.Count(p.log(), "acts in the channel now") }

// Two bots in two channels act on each message once. Whichever acts in a channel, the other one
// acts there after it was killed. A bot that was suspended deletes nothing twice.
func TestShared_TwoBotsInTwoChannels(t *testing.T) {
	t.Parallel()
	c := startTwoChannels(t)
	c.flood("anna", 8, 3)
	c.checkDeleted()
	if n := c.bots[0].leads() + c.bots[1].leads(); n != len(channelNames) {
		t.Errorf("the bots act in %d channels, want %d", n, len(channelNames))
	}
	if !*whole {
		c.bots[0].stop(t)
		waittest.Until(t, func() bool { return c.bots[1].leads() == len(channelNames) })
		c.flood("anna", 3, 0)
		c.checkDeleted()
		c.bots[1].stop(t)
		c.checkDeleted()
		return
	}
	first, second := c.bots[0], c.bots[1]
	must(t, first.Process.Signal(syscall.SIGSTOP))
	waittest.Until(t, func() bool { return second.leads() == len(channelNames) })
	c.flood("anna", 4, 0)
	c.checkDeleted()
	must(t, first.Process.Signal(syscall.SIGCONT))
	c.flood("anna", 4, 0)
	c.checkDeleted()
	before := first.leads()
	must(t, second.Process.Kill())
	waittest.Until(t, func() bool { return first.leads() == before+len(channelNames) })
	c.flood("anna", 4, 0)
	c.checkDeleted()
	first.stop(t)
	c.checkDeleted()
}

// twoBots is two bots in one channel.
type twoBots struct {
	*testing.T
	twitch        *faketwitch.Server
	first, second *process
	said          map[string]bool
}

func startTwoBots(t *testing.T) *twoBots {
	t.Helper()
	server := redistest.Start(t)
	first := newScene(t, threeMessages+sharedTable(server, "first"))
	second := *first
	second.configuration = filepath.Join(t.TempDir(), "chatguard.toml")
	text, err := os.ReadFile(first.configuration)
	must(t, err)
	must(t, os.WriteFile(second.configuration, []byte(strings.Replace(string(text), `"first"`, `"second"`, 1)), 0o600))
	b := &twoBots{
		T: t, twitch: first.twitch, said: map[string]bool{},
		first: startCommand(t, first.runCommand()), second: startCommand(t, second.runCommand()),
	}
	awaitJoined(t, b.twitch, 2)
	return b
}

// say writes a message of anna, and returns its ID.
func (b *twoBots) say() string {
	b.Helper()
	id, err := b.twitch.Say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
	must(b, err)
	b.said[id] = true
	return id
}

// deleted returns the messages that were deleted.
func (b *twoBots) deleted() (ids []string) {
	for _, d := range b.twitch.Deletes() {
		ids = append(ids, d.Message.ID)
	}
	return ids
}

// waitDeleted waits until a message is deleted.
func (b *twoBots) waitDeleted(id string) {
	b.Helper()
	waittest.Until(b.T, func() bool { return slices.Contains(b.deleted(), id) })
}

// checkStandby waits until both bots say which of them acts.
func (b *twoBots) checkStandby(leader, standby *process, name string) {
	b.Helper()
	get := func(bot *process, path string) string {
		_, text := sendRequest(b.T, "GET", bot.address+path, "", "Authorization", "Bearer "+webToken)
		return text
	}
	state := fmt.Sprintf(`{"name":"#gardenhour","state":"standby","detail":"node %s acts in it"}`, name)
	waittest.Until(b.T, func() bool { return strings.Contains(get(standby, "api/v1/status"), state) })
	if text := get(leader, "api/v1/status"); strings.Contains(text, "standby") {
		b.Errorf("the leader says %s", text)
	}
	for number, bot := range []*process{standby, leader} {
		metric := fmt.Sprintf("chatguard_shared_leader{channel=\"gardenhour\",channel_id=%q} %d\n", b.twitch.UserID("gardenhour"), number)
		waittest.Until(b.T, func() bool { return strings.Contains(get(bot, "metrics"), metric) })
	}
}

// Of two bots in a channel, one acts. After it is killed, the other acts; after it was suspended
// and resumes, it deletes nothing.
func TestShared_TwoBots(t *testing.T) {
	if testing.Short() {
		t.Skip("waits half a minute for leases to end")
	}
	t.Parallel()
	b := startTwoBots(t)
	for range 3 {
		b.say()
	}
	b.waitDeleted(b.say()) // the fourth message and the following are deleted, each once
	leader, standby, name := b.first, b.second, "first"
	if leader.leads() == 0 {
		leader, standby, name = standby, leader, "second"
	}
	b.checkStandby(leader, standby, name)
	must(t, leader.Process.Signal(syscall.SIGSTOP))
	waittest.Until(t, func() bool { return standby.leads() == 1 })
	b.waitDeleted(b.say())
	must(t, leader.Process.Signal(syscall.SIGCONT))
	b.waitDeleted(b.say())
	if err := standby.Process.Kill(); err != nil { // it leads now
		t.Fatal(err)
	}
	waittest.Until(t, func() bool { return leader.leads() == 2 })
	b.waitDeleted(b.say())
	ids := b.deleted()
	if slices.Sort(ids); len(ids) != len(slices.Compact(slices.Clone(ids))) {
		t.Errorf("a message was deleted twice: %v", ids)
	}
	for _, id := range ids {
		if !b.said[id] {
			t.Errorf("%s was deleted, and never said", id)
		}
	}
	leader.stop(t)
}
