package language

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"

	"github.com/chatguard/chatguard/web/static"
)

// Texts are the texts of one catalogue in one language. The pages use catalogues of the same
// format. A text may contain {{placeholders}}. A text that depends on the number n has a form for
// each plural category, such as "granted_one" and "granted_other". Get them with Chat or Document.
type Texts struct {
	language language.Tag
	texts    map[string]string
}

// Values are the values of a text's placeholders. The value of n is an int.
type Values map[string]any

// Chat returns the texts for people in a chat, in a language. An unknown language means the
// default.
func Chat(tag string) *Texts { return in(chatTexts(), tag) }

// Document returns the texts that HTML documents contain without JavaScript, in a language. An
// unknown language means the default.
func Document(tag string) *Texts { return in(documentTexts(), tag) }

func in(all map[string]*Texts, tag string) *Texts {
	if texts, ok := all[tag]; ok {
		return texts
	}
	return all[All[0]]
}

// The texts of each catalogue, by language.
var (
	chatTexts     = sync.OnceValue(func() map[string]*Texts { return readAll("chat.json") })
	documentTexts = sync.OnceValue(func() map[string]*Texts { return readAll("document.json") })
)

// readAll reads an embedded catalogue in all languages.
func readAll(name string) map[string]*Texts {
	all := map[string]*Texts{}
	for _, tag := range All {
		texts, err := read(tag, name)
		if err != nil {
			panic(err) // can't happen: the embedded catalogues are tested
		}
		all[tag] = texts
	}
	return all
}

// read reads an embedded catalogue.
func read(tag, name string) (*Texts, error) {
	path := "text/" + tag + "/" + name
	content, err := fs.ReadFile(static.Files, path)
	if err != nil {
		return nil, err
	}
	t := &Texts{language: language.MustParse(tag)}
	if err := json.Unmarshal(content, &t.texts); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

var placeholder = regexp.MustCompile(`\{\{\w+\}\}`)

// Text returns the text with a name. It panics if there is none.
func (t *Texts) Text(name string, values Values) string {
	text, ok := t.texts[name]
	if n, counts := values["n"].(int); !ok && counts {
		text, ok = t.texts[name+pluralForms[plural.Cardinal.MatchPlural(t.language, n, 0, 0, 0, 0)]]
	}
	if !ok {
		panic("language: there is no text " + name)
	}
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		return fmt.Sprint(values[strings.Trim(found, "{}")])
	})
}

var pluralForms = map[plural.Form]string{
	plural.Other: "_other", plural.Zero: "_zero", plural.One: "_one", plural.Two: "_two", plural.Few: "_few", plural.Many: "_many",
}

// Wait writes a duration, rounded up so that nobody retries too early. In English, it is what
// chatguard.FormatWait returns.
func (t *Texts) Wait(d time.Duration) string {
	seconds := max(0, int((d+time.Second-1)/time.Second))
	minutes := (seconds + 59) / 60
	switch {
	case seconds < 120:
		return t.Text("wait-seconds", Values{"n": seconds})
	case minutes < 120:
		return t.Text("wait-minutes", Values{"n": minutes})
	case minutes < 48*60:
		return t.Text("wait-hours", Values{"hours": minutes / 60, "minutes": minutes % 60})
	}
	return t.Text("wait-days", Values{"n": (minutes + 24*60 - 1) / (24 * 60)})
}

// LimitTitle returns what the readers of a chat call a limit: its title, or else its name. The
// names of the usual limits are translated.
func (t *Texts) LimitTitle(name, title string) string {
	return cmp.Or(title, t.texts[usualTitles[name]], name)
}

// usualTitles are the texts for the names of limits of the default policy, raid mode, presets and
// known limits.
var usualTitles = map[string]string{
	"burst": "title-burst", "daily": "title-daily", "everyone": "title-everyone", "raid": "title-raid", "hourly": "title-hourly",
	"minute": "title-minute", "hour": "title-hour", "day": "title-day", "week": "title-week", "month": "title-month",
	"no-repeats": "title-no-repeats", "copy-paste": "title-copy-paste",
}

// List joins parts with the language's separator.
func (t *Texts) List(parts []string) string { return strings.Join(parts, t.Text("separator", nil)) }
