package app_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/turntest"
)

// TestChatScripts runs the scripts in testdata/chat: messages in a chat, and what the bot does
// about them. LANGUAGE.md there describes the syntax. The transports take turns.
func TestChatScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/chat/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in testdata/chat: %v", err)
	}
	for _, file := range turntest.Sample(t, 1, files) {
		script, name := readChatScript(t, file), strings.TrimSuffix(filepath.Base(file), ".txt")
		for _, transport := range turntest.Choose(t, name, script.transports) {
			t.Run(name+"/"+transport, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { script.play(t, transport) })
			})
		}
	}
}

// chatScript is one of the script files.
type chatScript struct {
	file       string
	config     config.Config
	transports []string
	twitch     faketwitch.Options
	lines      []scriptLine
}

// scriptLine is an event and the expected actions of the bot.
type scriptLine struct {
	number int
	event  string
	wants  []string
}

// The keywords of the setup, before the first event.
var (
	overWords     = regexp.MustCompile(`^only over (.+)$`)
	channelsWords = regexp.MustCompile(`^twitch has the channels (.+)$`)
	budgetWords   = regexp.MustCompile(`^twitch takes (\d+) requests at once$`)
	limitWords    = regexp.MustCompile(`^twitch takes (\d+) timeouts in 30s$`)
)

// readChatScript reads a file: a configuration, a line of dashes, and the events.
func readChatScript(t *testing.T, file string) *chatScript {
	t.Helper()
	data, err := os.ReadFile(file)
	must(t, err)
	head, body, ok := bytes.Cut(data, []byte("\n---\n"))
	if !ok {
		t.Fatalf("%s: no line --- between configuration and events", file)
	}
	s := &chatScript{file: file, transports: transports}
	if s.config, err = config.Parse(file, head, nil); err != nil {
		t.Fatal(err)
	}
	s.twitch.Channels = s.config.Twitch.Channels
	first := bytes.Count(head, []byte("\n")) + 3
	for i, line := range strings.Split(string(body), "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") && !s.applySetup(line) {
			event, wants, _ := strings.Cut(line, "->")
			s.lines = append(s.lines, scriptLine{first + i, strings.TrimSpace(event), splitEffects(wants)})
		}
	}
	return s
}

// applySetup applies a setup line. It returns false for any other line.
func (s *chatScript) applySetup(line string) bool {
	if m := overWords.FindStringSubmatch(line); m != nil {
		s.transports = strings.Fields(m[1])
	} else if m := channelsWords.FindStringSubmatch(line); m != nil {
		s.twitch.Channels = strings.Fields(m[1])
	} else if m := budgetWords.FindStringSubmatch(line); m != nil {
		fmt.Sscan(m[1], &s.twitch.HelixBudget)
	} else if m := limitWords.FindStringSubmatch(line); m != nil {
		fmt.Sscan(m[1], &s.twitch.SanctionLimit)
	} else {
		return false
	}
	return true
}

// splitEffects splits the effects announced behind an arrow at commas outside quotes.
func splitEffects(list string) (effects []string) {
	quoted := false
	for effect := range strings.FieldsFuncSeq(list, func(c rune) bool {
		quoted = quoted != (c == '"')
		return c == ',' && !quoted
	}) {
		if effect = strings.TrimSpace(effect); effect != "" {
			effects = append(effects, effect)
		}
	}
	return effects
}

// play runs the script with a bot that reads over a transport.
func (s *chatScript) play(t *testing.T, transport string) {
	c := s.config
	c.Twitch.Transport = transport
	p := &play{
		simulation: newSimulation(t, c, s.twitch), file: s.file, home: c.Twitch.Channels[0],
		said: map[sentence]string{}, names: map[string]string{},
	}
	p.start()
	p.began = time.Now()
	for _, p.line = range s.lines {
		p.runLine()
		if t.Failed() {
			t.Logf("the bot's log:\n%s", p.log.String())
			return
		}
	}
	p.stopThen(p.compareJournal)
	p.line.wants, p.speech, p.failed = nil, speech{}, nil
	p.compare()
	if cleared := p.server.Clears(); len(cleared) > 0 {
		p.fail("the bot cleared whole chats: %v", cleared)
	}
}
