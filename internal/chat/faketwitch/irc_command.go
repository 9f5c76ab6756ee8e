package faketwitch

import (
	"fmt"
	"strings"
)

// answer handles one line from a client. It returns the lines to send and whether to close the
// connection after that. The caller holds mu.
func (c *client) answer(line string) (reply []string, bye bool) {
	command, params, _ := strings.Cut(line, " ")
	switch command {
	case "CAP":
		return c.capabilities(params), false
	case "PASS":
		c.pass = params
	case "NICK":
		return c.logIn(strings.ToLower(params))
	case "PING":
		return []string{":tmi.twitch.tv PONG tmi.twitch.tv " + params}, false
	case "JOIN":
		for name := range strings.SplitSeq(params, ",") {
			reply = append(reply, c.join(strings.TrimPrefix(name, "#"))...)
		}
		c.srv.notifyChanged()
	case "PART":
		for name := range strings.SplitSeq(params, ",") {
			delete(c.joined, strings.TrimPrefix(name, "#"))
		}
		c.srv.notifyChanged()
	}
	return reply, false
}

func (c *client) capabilities(params string) []string {
	_, wanted, _ := strings.Cut(params, ":")
	c.tags = c.tags || strings.Contains(wanted, "twitch.tv/tags")
	c.commands = c.commands || strings.Contains(wanted, "twitch.tv/commands")
	return []string{":tmi.twitch.tv CAP * ACK :" + wanted}
}

// anonymousPrefix is the prefix of anonymous logins.
const anonymousPrefix = "justinfan"

// logIn checks login and token as Twitch does. An anonymous login needs no token.
func (c *client) logIn(login string) (reply []string, bye bool) {
	if takeOne(&c.srv.faults.stalledLogins) {
		return nil, false
	}
	token, wellFormed := strings.CutPrefix(c.pass, "oauth:")
	access, live := c.srv.identity.liveToken(token)
	switch {
	case c.srv.faults.refuseLogins:
		return []string{":tmi.twitch.tv NOTICE * :Login authentication failed"}, true
	case strings.HasPrefix(login, anonymousPrefix):
	case !wellFormed:
		return []string{":tmi.twitch.tv NOTICE * :Improperly formatted auth"}, true
	case !live || !access.allows(scopeRead):
		return []string{":tmi.twitch.tv NOTICE * :Login authentication failed"}, true
	}
	if c.login = login; !c.mayLogIn() {
		c.login = ""
		return []string{":tmi.twitch.tv NOTICE * :Login unsuccessful"}, true
	}
	reply = []string{
		fmt.Sprintf(":tmi.twitch.tv 001 %s :Welcome, GLHF!", login),
		fmt.Sprintf(":tmi.twitch.tv 002 %s :Your host is tmi.twitch.tv", login),
		fmt.Sprintf(":tmi.twitch.tv 003 %s :This server is rather new", login),
		fmt.Sprintf(":tmi.twitch.tv 004 %s :-", login),
		fmt.Sprintf(":tmi.twitch.tv 375 %s :-", login),
		fmt.Sprintf(":tmi.twitch.tv 372 %s :You are in a maze of twisty passages, all alike.", login),
		fmt.Sprintf(":tmi.twitch.tv 376 %s :>", login),
	}
	if c.commands && wellFormed {
		reply = append(reply, fmt.Sprintf("@badge-info=;badges=;color=;display-name=%s;emote-sets=0;user-id=%s;user-type= :tmi.twitch.tv GLOBALUSERSTATE",
			escape(login), c.srv.botID))
	}
	return reply, false
}

// join adds the client to a channel and returns the lines that confirm it.
func (c *client) join(login string) []string {
	ch := c.srv.channels[login]
	switch {
	case c.login == "" || !c.mayJoin(ch):
		return nil
	case ch == nil:
		return []string{fmt.Sprintf("@msg-id=msg_channel_suspended :tmi.twitch.tv NOTICE #%s :This channel does not exist or has been suspended.", login)}
	}
	c.joined[login] = true
	reply := []string{
		fmt.Sprintf(":%[1]s!%[1]s@%[1]s.tmi.twitch.tv JOIN #%s", c.login, login),
		fmt.Sprintf(":%[1]s.tmi.twitch.tv 353 %[1]s = #%s :%[1]s", c.login, login),
		fmt.Sprintf(":%[1]s.tmi.twitch.tv 366 %[1]s #%s :End of /NAMES list", c.login, login),
	}
	if c.commands && !c.isAnonymous() {
		reply = append(reply, c.userState(ch))
	}
	if c.commands {
		reply = append(reply, roomState(ch.account, ch.modes.tags()))
	}
	return reply
}
