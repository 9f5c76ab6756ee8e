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
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
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
	server := twitchtest.Start(t, channelNames...)
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

// get asks a bot.
func (c *twoChannels) get(bot int, path string) string {
	c.Helper()
	_, text := sendRequest(c.T, "GET", c.bots[bot].address+path, "", "Authorization", "Bearer "+webToken)
	return text
}

// acts reports whether a bot's metrics say that it acts in a channel, 1, or that it doesn't, 0.
func (c *twoChannels) acts(bot int, channel, number string) bool {
	c.Helper()
	metric := fmt.Sprintf("\nchatguard_shared_leader{channel=%q,channel_id=%q} %s\n", channel, c.twitch.UserID(channel), number)
	return strings.Contains(c.get(bot, "metrics"), metric)
}

// awaitSole waits until a bot acts in both channels.
func (c *twoChannels) awaitSole(bot int) {
	c.Helper()
	for _, channel := range channelNames {
		waittest.Until(c.T, func() bool { return c.acts(bot, channel, "1") })
	}
}

// checkLeaders waits until both bots say which of them acts in each channel. It returns the one
// that acts in the last channel.
func (c *twoChannels) checkLeaders() (leader int) {
	c.Helper()
	for _, channel := range channelNames {
		waittest.Until(c.T, func() bool {
			leader = 0
			if c.acts(1, channel, "1") {
				leader = 1
			}
			state := fmt.Sprintf(`{"name":"#%s","state":"standby","detail":"node bot-%d acts in it"}`, channel, leader)
			return c.acts(leader, channel, "1") && c.acts(1-leader, channel, "0") && strings.Contains(c.get(1-leader, "api/v1/status"), state)
		})
		if text := c.get(leader, "api/v1/status"); strings.Contains(text, fmt.Sprintf(`{"name":"#%s","state":"standby"`, channel)) {
			c.Errorf("the leader says %s", text)
		}
	}
	return leader
}

// TestShared_TwoBots checks that two bots in two channels act on each message once. Whichever acts
// in a channel, the other one acts there after it was suspended or killed. A bot that was suspended
// deletes nothing twice.
func TestShared_TwoBots(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for the end of leases")
	}
	t.Parallel()
	c := startTwoChannels(t)
	c.flood("anna", 8, 3)
	c.checkDeleted()
	first := c.checkLeaders()
	second := 1 - first
	must(t, c.bots[first].Process.Signal(syscall.SIGSTOP))
	c.awaitSole(second)
	c.flood("anna", 4, 0)
	c.checkDeleted()
	must(t, c.bots[first].Process.Signal(syscall.SIGCONT))
	c.flood("anna", 4, 0)
	c.checkDeleted()
	must(t, c.bots[second].Process.Kill())
	c.awaitSole(first)
	c.flood("anna", 4, 0)
	c.checkDeleted()
	c.bots[first].stop(t)
	c.checkDeleted()
}

// TestShared_TwoBotsWithoutRedis checks that the bot that acts in a channel goes on there without
// Redis, and after Redis has lost its data, and says so. The other one doesn't act.
func TestShared_TwoBotsWithoutRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for the end of leases")
	}
	t.Parallel()
	c := startTwoChannels(t)
	logged := func(text string) func() bool {
		return func() bool { return strings.Count(c.bots[0].log()+c.bots[1].log(), text) >= len(channelNames) }
	}
	c.flood("anna", 8, 3)
	c.checkDeleted()
	c.checkLeaders()
	c.redis.Kill()
	waittest.Until(t, logged("this node moderates the channel alone"))
	for _, channel := range channelNames {
		alone := fmt.Sprintf("#%s: moderated alone: since ", channel)
		waittest.Until(t, func() bool {
			return strings.Contains(c.get(0, "readyz"), alone) != strings.Contains(c.get(1, "readyz"), alone)
		})
	}
	c.flood("ben", 8, 3)
	c.checkDeleted()
	c.redis.Start()
	waittest.Until(t, logged("a node moderates the channel, and the others know of it"))
	c.checkLeaders()
	c.flood("carla", 8, 3)
	c.checkDeleted()
	for _, bot := range c.bots {
		bot.stop(t)
	}
	c.checkDeleted()
}
