package app_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/live"
)

// play is a script in progress.
type play struct {
	*simulation
	file   string
	home   string    // login of the default channel
	began  time.Time // start of the script by its own clock
	line   scriptLine
	speech speech              // from the line; zero if nobody speaks
	failed []string            // effects of the line not caused by the bot
	said   map[sentence]string // latest message IDs
	names  map[string]string   // logins by user ID
	noted  []journalLine
	seen   seen
	others int // number of strangers who have written
}

// journalLine is what a line expects the journal to say about a message.
type journalLine struct {
	line      scriptLine
	messageID string
	says      string
}

// sentence is a message and its author.
type sentence struct{ login, text string }

// speech is a script line that sends a message.
type speech struct {
	roles, login, name, channel, source, kind, text string
	late                                            time.Duration
	answers                                         sentence // the message that it replies to
}

// beat is the default duration of a line; crowded is that of a line with a crowd.
const (
	beat    = 100 * time.Millisecond
	crowded = 5 * time.Second
)

// fail reports an error in the line.
func (p *play) fail(format string, args ...any) {
	p.Helper()
	p.Errorf("%s:%d: %s", p.file, p.line.number, fmt.Sprintf(format, args...))
}

// runLine runs a line and checks what the bot does.
func (p *play) runLine() {
	p.speech, p.failed = speech{channel: p.home}, nil
	if s, ok := p.parseSpeech(p.line.event); ok {
		p.speech = s
		p.speak()
		p.advance(beat)
	} else if !p.runDirection() {
		p.fail("what is meant by %q? (LANGUAGE.md says what can happen)", p.line.event)
		return
	}
	p.compare()
}

var speechWords = regexp.MustCompile(`^(?:\[([a-z_, ]+)\] )?([a-z0-9_]+)(?: called (\S+))?(?: in ([a-z0-9_]+))?(?: mirrored from ([a-z0-9_]+))?(?:, (\w+) late)?(?:, to (\w+)'s "([^"]*)")?(?: with ([a-z_]+))?:(?: (.*))?$`)

func (p *play) parseSpeech(event string) (s speech, ok bool) {
	m := speechWords.FindStringSubmatch(event)
	if m == nil {
		return s, false
	}
	s = speech{roles: m[1], login: m[2], name: m[3], channel: m[4], source: m[5], answers: sentence{m[7], m[8]}, kind: m[9], text: m[10]}
	if s.channel == "" {
		s.channel = p.home
	}
	if m[6] != "" {
		var err error
		if s.late, err = time.ParseDuration(m[6]); err != nil {
			p.fail("%v", err)
		}
	}
	return s, true
}

// speak sends the line's message.
func (p *play) speak() {
	s := p.speech
	l := faketwitch.Line{Channel: s.channel, Login: s.login, DisplayName: s.name, Text: s.text, Kind: s.kind, SentAt: time.Now().Add(-s.late), ReplyTo: p.said[s.answers]}
	if s.source != "" {
		l.Source = p.idOf(s.source)
	}
	for role := range strings.FieldsFuncSeq(s.roles, func(c rune) bool { return c == ',' || c == ' ' }) {
		if role == "first" {
			l.First = true
		} else {
			l.Badges += "," + role + "/1"
		}
	}
	l.Badges = strings.TrimPrefix(l.Badges, ",")
	p.idOf(s.login)
	switch id, err := p.server.Say(l); {
	case errors.Is(err, faketwitch.ErrSilenced):
		p.failed = append(p.failed, "silenced")
	case errors.Is(err, faketwitch.ErrSlow):
		p.failed = append(p.failed, "slowed")
	case errors.Is(err, faketwitch.ErrWarned):
		p.failed = append(p.failed, "warned")
	case err != nil:
		p.fail("%v", err)
	default:
		p.said[sentence{l.Login, l.Text}] = id
	}
}

// idOf returns the ID of a user or channel, and remembers its name for the script.
func (p *play) idOf(login string) string {
	id := p.server.UserID(login)
	p.names[id] = login
	return id
}

// direction is an event other than a message.
type direction struct {
	words *regexp.Regexp
	do    func(p *play, m []string)
}

// directions are all directions. LANGUAGE.md explains each.
var directions = []direction{
	{regexp.MustCompile(`^clock (\+?)(\w+)$`), (*play).setClock},
	{regexp.MustCompile(`^the broadcaster deletes (\w+)'s "(.*)"$`), (*play).deleteByHand},
	{regexp.MustCompile(`^the broadcaster times (\w+) out for (\w+)$`), (*play).timeOutByHand},
	{regexp.MustCompile(`^the broadcaster bans (\w+)$`), func(p *play, m []string) { p.server.Silence(p.home, m[1], 0) }},
	{regexp.MustCompile(`^the broadcaster clears the chat$`), func(p *play, _ []string) { p.server.Clear(p.home) }},
	{regexp.MustCompile(`^(\w+) acknowledges the warning$`), func(p *play, m []string) { p.server.Acknowledge(p.home, m[1]) }},
	{regexp.MustCompile(`^the bot is (a|no) moderator(?: in (\w+))?$`), (*play).appoint},
	{regexp.MustCompile(`^twitch sends everything twice$`), func(p *play, _ []string) { p.server.SetDelivery(faketwitch.Delivery{Duplicate: 1}) }},
	{regexp.MustCompile(`^twitch answers after (\w+)$`), (*play).slowHelix},
	{regexp.MustCompile(`^twitch answers (\d+)( although it obeys)?$`), (*play).failHelix},
	{regexp.MustCompile(`^twitch refuses one request for (\w+)$`), (*play).refuseOne},
	{regexp.MustCompile(`^twitch is well$`), (*play).endFaults},
	{regexp.MustCompile(`^twitch drops the connections$`), (*play).drop},
	{regexp.MustCompile(`^twitch asks to reconnect$`), (*play).reconnect},
	{regexp.MustCompile(`^twitch renames (\w+) to (\w+)$`), func(p *play, m []string) { p.server.Rename(m[1], m[2]) }},
	{regexp.MustCompile(`^twitch removes (\w+)$`), func(p *play, m []string) { p.server.RemoveAccount(m[1]) }},
	{regexp.MustCompile(`^twitch has another channel (\w+)$`), func(p *play, m []string) { p.server.AddChannel(m[1]) }},
	{regexp.MustCompile(`^twitch is away$`), func(p *play, _ []string) { p.server.HangUp(1_000_000); p.server.Disconnect() }},
	{regexp.MustCompile(`^twitch is back$`), func(p *play, _ []string) { p.server.HangUp(0) }},
	{regexp.MustCompile(`^twitch ignores joins$`), func(p *play, _ []string) { p.server.IgnoreJoins(1_000_000) }},
	{regexp.MustCompile(`^twitch heeds joins$`), func(p *play, _ []string) { p.server.IgnoreJoins(0) }},
	{regexp.MustCompile(`^twitch revokes the token$`), func(p *play, _ []string) { p.server.Revoke() }},
	{regexp.MustCompile(`^chatguard login$`), func(p *play, _ []string) { p.logInAs("chatguard_bot") }},
	{regexp.MustCompile(`^chatguard reload with the channels (.+)$`), (*play).reload},
	{regexp.MustCompile(`^chatguard stops$`), func(p *play, _ []string) { p.stop() }},
	{regexp.MustCompile(`^chatguard starts$`), func(p *play, _ []string) { p.start() }},
	{regexp.MustCompile(`^(\d+) strangers say (\d+) things each$`), (*play).sendCrowd},
	{regexp.MustCompile(`^journal of (\w+)'s "(.*)": (.+)$`), (*play).expectJournal},
	{regexp.MustCompile(`^chatguard is ready$`), (*play).checkReady},
	{regexp.MustCompile(`^chatguard isn't ready "(.+)"$`), (*play).checkUnready},
	{regexp.MustCompile(`^dashboard shows nothing of (\S+)$`), (*play).checkDashboardSilent},
	{regexp.MustCompile(`^dashboard shows (\S+) ([a-z ]+?)(?: "(.+)")?$`), (*play).checkDashboard},
}

// runDirection carries out the line's direction. It reports whether it understands the line.
func (p *play) runDirection() bool {
	for _, d := range directions {
		m := d.words.FindStringSubmatch(p.line.event)
		if m == nil {
			continue
		}
		d.do(p, m)
		if !strings.HasPrefix(p.line.event, "clock ") {
			p.advance(beat)
		}
		return true
	}
	return false
}

// parseDuration parses a duration.
func (p *play) parseDuration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		p.fail("%v", err)
	}
	return d
}

func (p *play) setClock(m []string) {
	d := p.parseDuration(m[2])
	if m[1] == "" {
		if d = time.Until(p.began.Add(d)); d < 0 {
			p.fail("the clock shows %s already", time.Since(p.began))
		}
	}
	p.advance(d)
}

func (p *play) deleteByHand(m []string) {
	id := p.said[sentence{m[1], m[2]}]
	if _, ok := p.server.Message(id); !ok {
		p.fail("nobody can see %s's %q", m[1], m[2])
	}
	p.server.RemoveMessage(id)
}

func (p *play) timeOutByHand(m []string) { p.server.Silence(p.home, m[1], p.parseDuration(m[2])) }

func (p *play) appoint(m []string) {
	channel := m[2]
	if channel == "" {
		channel = p.home
	}
	p.server.SetBotModerator(channel, m[1] == "a")
}

func (p *play) slowHelix(m []string) {
	delay := p.parseDuration(m[1])
	p.server.SetHelixFaults(func(faketwitch.Request) (faketwitch.Fault, bool) {
		return faketwitch.Fault{Status: faketwitch.AsAsked, Delay: delay}, true
	})
}

func (p *play) failHelix(m []string) {
	status, _ := strconv.Atoi(m[1])
	p.server.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) {
		return faketwitch.Fault{Status: status, Message: http.StatusText(status), After: m[2] != ""}, r.Method != http.MethodGet
	})
}

// refuseOne makes Twitch answer the next request with "too many requests" and a time until its
// budget is full again.
func (p *play) refuseOne(m []string) {
	reset := strconv.FormatInt(time.Now().Add(p.parseDuration(m[1])).Unix(), 10)
	var refused atomic.Bool
	p.server.SetHelixFaults(func(faketwitch.Request) (faketwitch.Fault, bool) {
		header := http.Header{"Ratelimit-Limit": {"800"}, "Ratelimit-Remaining": {"0"}, "Ratelimit-Reset": {reset}}
		return faketwitch.Fault{Status: http.StatusTooManyRequests, Header: header}, !refused.Swap(true)
	})
}

func (p *play) endFaults([]string) {
	p.server.SetHelixFaults(nil)
	p.server.SetDelivery(faketwitch.Delivery{})
}

func (p *play) drop([]string) {
	p.server.Disconnect()
	p.server.DropEventSub()
}

func (p *play) reconnect([]string) {
	p.server.Reconnect()
	p.server.ReconnectEventSub()
}

func (p *play) reload(m []string) {
	c := p.config
	c.Twitch.Channels = strings.Fields(m[1])
	if _, err := p.bot.Reload(c); err != nil {
		p.fail("%v", err)
	}
	p.config = c
}

// sendCrowd makes strangers send messages all at once.
func (p *play) sendCrowd(m []string) {
	users, _ := strconv.Atoi(m[1])
	each, _ := strconv.Atoi(m[2])
	for n := range each {
		for user := range users {
			login := fmt.Sprintf("stranger%d", p.others+user)
			p.idOf(login)
			l := faketwitch.Line{Channel: p.home, Login: login, Text: fmt.Sprintf("hello %d", n)}
			id, err := p.server.Say(l)
			p.said[sentence{l.Login, l.Text}] = id
			if err != nil && !errors.Is(err, faketwitch.ErrSilenced) && !errors.Is(err, faketwitch.ErrSlow) {
				// unless the bot has already silenced the stranger
				p.fail("%v", err)
			}
		}
	}
	p.others += users
	p.advance(crowded - beat)
}

// expectJournal records what the journal is expected to say about a message.
func (p *play) expectJournal(m []string) {
	p.noted = append(p.noted, journalLine{p.line, p.said[sentence{m[1], m[2]}], m[3]})
}

// compareJournal checks the journal: "delete done", or `delete skipped "why"`. Every entry must
// have an outcome.
func (p *play) compareJournal() {
	says := map[string]string{}
	for _, c := range p.bot.Web.Channels() {
		entries, err := p.bot.Host.Store.Entries(context.Background(), journal.EntryFilter{ChannelID: c.ID, N: 1_000_000})
		must(p, err)
		for _, e := range entries {
			says[e.MessageID] = strings.TrimSpace(fmt.Sprintf("%s %s %s", journal.Action(e.Outcome.Action), e.Outcome.Result, quote(e.Outcome.Reason)))
			if e.Outcome.Result == journal.Pending {
				p.fail("nothing was reported of %s's %q", e.Login, e.Text)
			}
		}
	}
	for _, n := range p.noted {
		got := cmp.Or(says[n.messageID], "nothing")
		if want, more := strings.CutSuffix(n.says, `…"`); got != n.says && !(more && strings.HasPrefix(got, want)) {
			p.line = n.line
			p.fail("the journal says %s", got)
		}
	}
}

func quote(text string) string {
	if text == "" {
		return ""
	}
	return `"` + text + `"`
}

// checkDashboard checks what the dashboard shows of a connection or a channel: its state, and a
// part of the detail.
func (p *play) checkDashboard(m []string) {
	shown := p.connections(m[1])
	if !slices.ContainsFunc(shown, func(c live.Connection) bool { return string(c.State) == m[2] && strings.Contains(c.Detail, m[3]) }) {
		p.fail("the dashboard shows of %s: %v", m[1], shown)
	}
}

// checkReady checks that monitoring is told that all is well.
func (p *play) checkReady([]string) {
	if status, reasons := p.bot.Web.Ready(); status != "ok" {
		p.fail("it is %s: %q", status, reasons)
	}
}

// checkUnready checks that monitoring is told that messages aren't judged, and this reason.
func (p *play) checkUnready(m []string) {
	status, reasons := p.bot.Web.Ready()
	if status != "unavailable" || !strings.Contains(strings.Join(reasons, "\n"), m[1]) {
		p.fail("it is %s: %q", status, reasons)
	}
}

func (p *play) checkDashboardSilent(m []string) {
	if shown := p.connections(m[1]); len(shown) > 0 {
		p.fail("the dashboard shows of %s: %v", m[1], shown)
	}
}

func (p *play) connections(name string) []live.Connection {
	return slices.DeleteFunc(p.bot.Web.Connections(), func(c live.Connection) bool { return c.Name != name })
}
