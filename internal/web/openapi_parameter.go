package web

import (
	"math"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/chatguard/chatguard/internal/journal"
)

// parameter is something that a request may, or has to, bring beside its content.
type parameter struct {
	Name        string             `json:"name"`
	In          string             `json:"in"` // path, query or header
	Description string             `json:"description"`
	Required    bool               `json:"required,omitempty"`
	Schema      *jsonschema.Schema `json:"schema"`
}

// params returns parameters that an address may have.
func params(all ...parameter) []parameter {
	for i := range all {
		all[i].In = "query"
	}
	return all
}

// What addresses may ask for.
var (
	inChannel    = parameter{Name: "channel", Description: "The channel's ID. Left out: all channels.", Schema: shortText()}
	inOneChannel = parameter{Name: "channel", Description: "The channel's ID. Left out: the first channel.", Schema: shortText()}
	searched     = parameter{Name: "q", Description: "The ID, or a part of the login.", Schema: shortText()}
	overSpan     = parameter{Name: "span", Description: "Left out: hour.", Schema: names([]string{"hour", "day"})}
	ofFeed       = parameter{Name: "feed", Description: "The feed of the last snapshot: where this is another one (of another channel, or another process), the first frame is a snapshot.", Schema: shortText()}
	afterSeq     = parameter{Name: "after", Description: "The seq of the last frame that arrived, of this channel's feed: what came since follows, where all of that is still known, and a snapshot otherwise.", Schema: wholeNumber(0, math.MaxInt64)}
	ofUser       = parameter{Name: "user", Description: "The user's ID, or login.", Schema: shortText()}
	toUser       = parameter{Name: "user", Description: "The user's ID, or where the channel is named, login.", Schema: shortText()}
	ofAuthor     = parameter{Name: "author", Description: "The name of who made the change.", Schema: shortText()}
	ofLimit      = parameter{Name: "limit", Description: "The limit's name.", Schema: shortText()}
	ofAction     = parameter{Name: "action", Description: "What was done.", Schema: names(actions)}
	ofChange     = parameter{Name: "action", Description: "What was changed.", Schema: names(journal.AuditActions)}
	ofResult     = parameter{Name: "result", Description: "How it went.", Schema: names(journal.Results)}
	fromTime     = parameter{Name: "from", Description: "Of messages at this time and later.", Schema: timeSchema}
	untilTime    = parameter{Name: "until", Description: "Of messages before this time.", Schema: timeSchema}
	beforeEntry  = parameter{Name: "before", Description: "Only entries older than the one with this ID.", Schema: wholeNumber(1, math.MaxInt64)}
	beforeChange = parameter{Name: "before", Description: "Only changes older than the one with this ID.", Schema: wholeNumber(1, math.MaxInt64)}
	pageLength   = parameter{Name: "n", Description: "At most so many. Left out: 100.", Schema: wholeNumber(1, mostPage)}
	inFormat     = parameter{Name: "format", Description: "Left out: json.", Schema: names(formats)}
)

// presence says whether a request has a header.
type presence int

const (
	absent   presence = iota // it means nothing
	accepted                 // it may have it
	required                 // it has to
)

// ifMatch is the header that keeps two moderators from overwriting one another.
func ifMatch(p presence) parameter {
	return parameter{
		Name: "If-Match", In: "header", Required: p == required, Schema: &jsonschema.Schema{Type: "string"},
		Description: "The ETag of what the change is for, a policy or a user's override_etag; or * for any.",
	}
}

// inPath is a part of a path.
func inPath(name string) parameter {
	about := map[string]string{"channel": "The channel's ID.", "id": "The user's ID.", "entry": "The journal entry's ID.", "pardon": "The pardon's ID."}
	return parameter{Name: name, In: "path", Required: true, Description: about[name], Schema: shortText()}
}

func shortText() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", MaxLength: jsonschema.Ptr(maxText)}
}

func wholeNumber(least, most int64) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "integer", Format: "int64", Minimum: jsonschema.Ptr(float64(least))}
	if most < math.MaxInt64 { // which no float64 is
		s.Maximum = jsonschema.Ptr(float64(most))
	}
	return s
}

// names is a text that is one of those.
func names[T ~string](known []T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, name := range known {
		s.Enum = append(s.Enum, string(name))
	}
	return s
}
