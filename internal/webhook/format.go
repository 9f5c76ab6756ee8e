package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/hostile"
)

// body returns what a hook receives about an event.
func (f Format) body(e *Event) ([]byte, error) {
	if f == Discord {
		return json.Marshal(discordMessage(e))
	}
	// The escaping keeps IDs unchanged, but shows characters that would change how the body is
	// displayed.
	var escaped bytes.Buffer
	err := json.NewEncoder(hostile.EscapeWriter{W: &escaped}).Encode(e)
	return bytes.TrimSpace(escaped.Bytes()), err
}

// embedded is a message for one of Discord's webhooks.
type embedded struct {
	Embeds []embed `json:"embeds"`
	// AllowedMentions has an empty list: nothing in the message notifies anybody.
	AllowedMentions struct {
		Parse []string `json:"parse"`
	} `json:"allowed_mentions"`
}

type embed struct {
	Title       string    `json:"title"`
	Description string    `json:"description"`
	Colour      int       `json:"color"`
	At          time.Time `json:"timestamp"`
	Footer      footer    `json:"footer"`
}

type footer struct {
	Text string `json:"text"`
}

// Colours of embeds.
const (
	red   = 0xd03b3b
	amber = 0xd9822b
	green = 0x2e8b57
	blue  = 0x4a7bd0
	grey  = 0x7a8088
)

// Discord's maximum lengths, in characters. All texts of a message together may have 6,000.
const (
	maxTitle       = 256
	maxDescription = 4096
)

// inDiscord writes sentences in Discord's Markdown. A time is shown in the reader's time zone.
var inDiscord = writer{
	texts:  english,
	escape: escapeMarkdown,
	time:   func(at time.Time) string { return fmt.Sprintf("<t:%d:f>", at.Unix()) },
}

// discordMessage returns an event as a message for Discord.
func discordMessage(e *Event) (m embedded) {
	d := inDiscord.describe(e)
	footed := "chatguard"
	if e.Node != "" {
		footed += " · " + e.Node // a footer shows no Markdown
	}
	m.Embeds = []embed{{
		Title: fit([]string{d.title}, maxTitle), Description: fit(d.lines, maxDescription),
		Colour: colourOf(e), At: e.At.UTC(), Footer: footer{footed},
	}}
	m.AllowedMentions.Parse = []string{}
	return m
}

// fit joins lines up to a number of UTF-16 code units, which is how Discord counts. It leaves out
// lines that have no room, so that no escape is cut apart.
func fit(lines []string, most int) string {
	const rest = "…"
	var b strings.Builder
	left := most - 2
	for _, line := range lines {
		size := 1
		for _, r := range line {
			size++
			if r > 0xffff {
				size++
			}
		}
		if left -= size; left < 0 {
			b.WriteString(rest)
			break
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func colourOf(e *Event) int {
	switch {
	case e.Failure != nil && !e.Failure.Over, e.Raid != nil && e.Raid.On:
		return red
	case e.Pause != nil && e.Pause.Paused, len(e.Bans) > 0:
		return amber
	case e.Failure != nil, e.Raid != nil, e.Pause != nil:
		return green
	case e.Limits != nil, e.Summary != nil:
		return blue
	}
	return grey
}

// escapeMarkdown escapes all punctuation, so that a text has no Markdown, no link, no mention, no
// emoji code and no time stamp.
func escapeMarkdown(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r > ' ' && r < 0x7f && !('0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z') {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
