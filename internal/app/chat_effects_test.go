package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
)

// seen counts how much of Twitch's record has been checked.
type seen struct{ deletes, bans, warnings, sent, slowModes, requests int }

// compare compares the effects announced on the line with what the bot has done since the previous
// line. Nothing else may happen.
func (p *play) compare() {
	p.Helper()
	happened := append(p.failed, p.effects()...)
	var wanted []string
	for _, want := range p.line.wants {
		switch want {
		case "stays":
			p.checkVisible()
		case "some deletes", "some timeouts", "perhaps deletes", "perhaps timeouts":
			happened = p.take(happened, want)
		default:
			wanted = append(wanted, p.expandEffect(want))
		}
	}
	slices.Sort(wanted)
	slices.Sort(happened)
	if !slices.Equal(wanted, happened) {
		p.fail("%q:\n\tannounced: %s\n\thappened:  %s", p.line.event, joinEffects(wanted), joinEffects(happened))
	}
}

// joinEffects returns the effects as a list, or "nothing".
func joinEffects(effects []string) string {
	if len(effects) == 0 {
		return "nothing"
	}
	return strings.Join(effects, ", ")
}

// checkVisible checks that the line's message can still be seen in the chat.
func (p *play) checkVisible() {
	if _, ok := p.server.Message(p.said[sentence{p.speech.login, p.speech.text}]); !ok {
		p.fail("%q can't be seen any more", p.speech.text)
	}
}

// take removes the effects of one kind from the list. If "some" are announced, there must be some.
func (p *play) take(effects []string, want string) []string {
	howMany, kind, _ := strings.Cut(strings.TrimSuffix(want, "s"), " ")
	left := slices.DeleteFunc(slices.Clone(effects), func(e string) bool { return strings.HasPrefix(e, kind+" ") })
	if howMany == "some" && len(left) == len(effects) {
		p.fail("not one %s", kind)
	}
	return left
}

// expandEffect returns an announced effect with its user.
func (p *play) expandEffect(effect string) string {
	if p.speech.login == "" {
		return effect
	}
	verb, length, _ := strings.Cut(effect, " ")
	switch {
	case effect == "delete":
		return fmt.Sprintf(`delete %s's "%s"`, p.speech.login, p.speech.text)
	case effect == "warn", effect == "ban", effect == "lift":
		return effect + " " + p.speech.login
	case verb == "timeout" && !strings.Contains(length, " "):
		return fmt.Sprintf("timeout %s %s", p.speech.login, length)
	}
	return effect
}

// effects returns what the bot has done since the last call, in the script's words.
func (p *play) effects() (list []string) {
	add := func(channelID, format string, args ...any) {
		effect := fmt.Sprintf(format, args...)
		if channelID != p.idOf(p.speech.channelOrDefault(p.home)) {
			effect += " in " + p.nameOf(channelID)
		}
		list = append(list, effect)
	}
	for _, d := range newElements(p.server.Deletes(), &p.seen.deletes) {
		add(d.Message.ChannelID, `delete %s's "%s"`, d.Message.Login, d.Message.Text)
	}
	for _, b := range newElements(p.server.Bans(), &p.seen.bans) {
		if b.Length == 0 {
			add(b.ChannelID, "ban %s", p.nameOf(b.UserID))
			continue
		}
		length := chatguard.Penalty{Action: chatguard.ActionTimeout, Duration: b.Length}
		add(b.ChannelID, "timeout %s %s", p.nameOf(b.UserID), strings.TrimPrefix(length.String(), "timeout "))
	}
	for _, w := range newElements(p.server.Warnings(), &p.seen.warnings) {
		add(w.ChannelID, "warn %s", p.nameOf(w.UserID))
	}
	sent := newElements(p.server.Sent(), &p.seen.sent)
	for _, m := range sent {
		add(m.ChannelID, `says "%s"`, m.Text)
	}
	for _, m := range newElements(p.server.SlowModes(), &p.seen.slowModes) {
		add(m.ChannelID, "slow mode %s", formatSlowMode(m))
	}
	taken := 0
	for _, r := range newElements(p.server.Requests(), &p.seen.requests) {
		if r.Method == http.MethodDelete && r.Path == "/helix/moderation/bans" {
			add(r.Query.Get("broadcaster_id"), "lift %s", p.nameOf(r.Query.Get("user_id")))
		}
		if r.Path == "/helix/chat/messages" && r.Status == http.StatusOK {
			taken++
		}
		if r.Status == http.StatusTooManyRequests {
			list = append(list, "too many requests")
		}
	}
	if taken > len(sent) {
		list = append(list, "says what Twitch drops")
	}
	return list
}

func formatSlowMode(m faketwitch.SlowMode) string {
	if !m.On {
		return "off"
	}
	return m.Wait.Round(time.Second).String()
}

// newElements returns the elements added to a list since the last call for it.
func newElements[T any](list []T, looked *int) []T {
	grown := list[*looked:]
	*looked = len(list)
	return grown
}

// nameOf returns the login of a user or a channel.
func (p *play) nameOf(id string) string {
	for _, login := range p.config.Twitch.Channels {
		p.idOf(login)
	}
	if name := p.names[id]; name != "" {
		return name
	}
	return "somebody with the ID " + id
}

func (s speech) channelOrDefault(home string) string {
	if s.channel == "" {
		return home
	}
	return s.channel
}
