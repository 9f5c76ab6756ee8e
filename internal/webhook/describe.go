package webhook

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
)

// description is an event in sentences.
type description struct {
	title string
	lines []string
}

// writer writes sentences about events.
type writer struct {
	texts  catalogue
	escape func(text string) string  // makes a value of an event part of a sentence
	time   func(at time.Time) string // writes a time
}

// plain writes sentences as plain text.
var plain = writer{
	texts:  english,
	escape: func(text string) string { return text },
	time:   func(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 UTC") },
}

// value is the value of a placeholder.
type value struct {
	name string
	text string // already escaped
}

// word returns a value from outside, which is escaped.
func (w writer) word(name, text string) value { return value{name, w.escape(text)} }

func (w writer) at(name string, at time.Time) value { return value{name, w.time(at)} }

func number(name string, n int) value { return value{name, strconv.Itoa(n)} }

// say returns a sentence of the catalogue with values.
func (w writer) say(key string, values ...value) string {
	var pairs []string
	for _, v := range values {
		pairs = append(pairs, "{"+v.name+"}", v.text)
	}
	return strings.NewReplacer(pairs...).Replace(w.texts[key])
}

// author returns a person's name. The origin before it is left out.
func (w writer) author(name string) value {
	if name == "" || name == journal.ProgramAuthor {
		return value{"who", w.say("by-chatguard")}
	}
	for _, origin := range auth.Origins() {
		if rest, ok := strings.CutPrefix(name, string(origin)+":"); ok {
			name = rest
			break
		}
	}
	return w.word("who", name)
}

// describe describes an event.
func (w writer) describe(e *Event) description {
	var d description
	switch {
	case e.Raid != nil:
		d = w.raid(e.Raid)
	case e.Pause != nil && e.Pause.Paused:
		d = description{w.say("paused"), []string{w.say("paused-by", w.author(e.Pause.By))}}
	case e.Pause != nil:
		d = description{w.say("resumed"), []string{w.say("resumed-by", w.author(e.Pause.By))}}
	case e.Failure != nil:
		d = w.failure(e.Failure)
	case e.Limits != nil:
		d = w.limits(e.Limits)
	case len(e.Bans) > 0:
		d = w.bans(e.Bans)
	case e.Summary != nil:
		d = w.summary(e.Summary)
	default:
		d = description{w.say("test"), []string{w.say("test-says")}}
	}
	if e.Channel != nil {
		d.title = w.say("in-channel", w.word("channel", e.Channel.Login), value{"title", d.title})
	}
	return d
}

func (w writer) raid(r *RaidChange) description {
	switch isPerson := r.By != "" && r.By != journal.ProgramAuthor; {
	case r.On && isPerson:
		return description{w.say("raid-on"), []string{w.say("raid-on-by", w.author(r.By), w.at("until", r.Until))}}
	case r.On:
		return description{w.say("raid-on"), []string{w.say("raid-on-by-itself", number("rate", int(math.Round(r.Rate))), w.at("until", r.Until))}}
	case isPerson:
		return description{w.say("raid-off"), []string{w.say("raid-off-by", w.author(r.By))}}
	}
	return description{w.say("raid-off"), []string{w.say("raid-off-itself")}}
}

func (w writer) failure(f *FailureChange) description {
	name := w.word("name", capital(f.Name))
	if f.Over {
		return description{w.say("works", name), []string{w.say("works-since", w.at("since", f.Since), w.at("until", f.Until))}}
	}
	d := description{w.say("failing", name), []string{w.say("failing-since", w.word("state", capital(f.State)), w.at("since", f.Since))}}
	if f.Detail != "" {
		d.lines = append(d.lines, w.say("failing-reason", w.word("detail", f.Detail)))
	}
	return d
}

// capital returns the text with its first letter in upper case.
func capital(text string) string {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func (w writer) limits(l *LimitsChange) description {
	d := description{title: w.say("limits")}
	if l.Revision > 0 {
		d.lines = append(d.lines, w.say("limits-by", w.author(l.By), number("revision", l.Revision)))
	} else {
		d.lines = append(d.lines, w.say("limits-file"))
	}
	if l.Mode == "enforce" {
		d.lines = append(d.lines, w.say("limits-enforced"))
	} else {
		d.lines = append(d.lines, w.say("limits-observed"))
	}
	for _, c := range l.Changes {
		d.lines = append(d.lines, w.say("limits-change", w.word("key", c.Key), w.word("from", c.From), w.word("to", c.To)))
	}
	switch {
	case l.More > 0:
		d.lines = append(d.lines, w.say("limits-more", number("n", l.More)))
	case len(l.Changes) == 0:
		d.lines = append(d.lines, w.say("limits-no-changes"))
	}
	return d
}

func (w writer) bans(bans []BannedUser) description {
	d := description{title: w.say("perhaps-banned")}
	for _, b := range bans {
		if !b.Unknown {
			d.title = w.say("banned")
		}
		line := w.say("banned-by", w.user(b.Login, b.DisplayName, b.UserID), w.author(b.By))
		switch {
		case b.Reason != "":
			line = w.say("banned-reason", value{"ban", line}, w.word("reason", b.Reason))
		case b.Limit != "":
			line = w.say("banned-limit", value{"ban", line}, w.word("limit", b.Limit))
		}
		if b.Unknown {
			line = w.say("banned-unknown", value{"ban", line})
		}
		d.lines = append(d.lines, line)
	}
	return d
}

// user returns the name of a user. A display name is shown with the login, unless they differ only
// in case: anybody can have a display name that looks like another's.
func (w writer) user(login, displayName, id string) value {
	switch {
	case login == "" && displayName == "":
		return w.word("user", hostile.OneLine(hostile.Visible(id), mostName))
	case login == "" || displayName != "" && strings.EqualFold(login, displayName):
		return w.word("user", displayName)
	case displayName == "":
		return w.word("user", login)
	}
	return value{"user", w.say("user-named", w.word("name", displayName), w.word("login", login))}
}

func (w writer) summary(s *StreamSummary) description {
	d := description{title: w.say("summary"), lines: []string{w.say("summary-span", w.at("from", s.From), w.at("until", s.Until))}}
	if s.Messages != nil && s.Users != nil {
		d.lines = append(d.lines, w.say("summary-messages", number("messages", *s.Messages), number("users", *s.Users)))
	}
	d.lines = append(d.lines, w.say("summary-throttled", number("messages", s.Throttled), number("users", s.ThrottledUsers)))
	if s.Observed > 0 {
		d.lines = append(d.lines, w.say("summary-observed", number("messages", s.Observed)))
	}
	d.lines = append(d.lines, w.say("summary-sanctions", number("timeouts", s.TimedOut), number("bans", s.Banned), number("pardons", s.Pardoned)))
	var top string
	for i, u := range slices.All(s.Top) {
		one := w.say("summary-user", w.user(u.Login, "", u.UserID), number("messages", u.Throttled))
		if i > 0 {
			one = w.say("list", value{"first", top}, value{"second", one})
		}
		top = one
	}
	if top != "" {
		d.lines = append(d.lines, w.say("summary-top", value{"users", top}))
	}
	return d
}

// sentence returns an event as plain text on one line.
func sentence(e *Event) string {
	d := plain.describe(e)
	return d.title + ". " + strings.Join(d.lines, " ")
}
