//go:build !race

package web

import (
	"math"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// params returns query parameters.
func params(all ...parameter) []parameter {
	for i := range all {
		all[i].In = "query"
	}
	return all
}

// Query parameters.
var (
	inChannel          = parameter{Name: "channel", Description: "The channel's ID. Default: all channels.", Schema: shortText()}
	aroundEntry        = parameter{Name: "entry", Description: "The ID of the message's journal entry.", Schema: wholeNumber(1, math.MaxInt64)}
	aroundUser         = parameter{Name: "user", Description: "The user's ID.", Schema: shortText()}
	numberAround       = parameter{Name: "n", Description: "The number of messages before it and after it at most. Default: 5.", Schema: wholeNumber(0, messagesAround)}
	withinSeconds      = parameter{Name: "within", Description: "Seconds. Default: only who is throttled now.", Schema: wholeNumber(1, 600)}
	inOneChannel       = parameter{Name: "channel", Description: "The channel's ID. Default: the first channel.", Schema: shortText()}
	inChannelOfViewers = parameter{Name: "channel", Description: "The channel's login. Default: the first channel.", Schema: shortText()}
	searched           = parameter{Name: "q", Description: "The ID, or a part of the login.", Schema: shortText()}
	overSpan           = parameter{Name: "span", Description: "Default: hour.", Schema: nameSchema([]string{"quarter", "hour", "day", "stream"})}
	ofFeed             = parameter{Name: "feed", Description: "The feed of the last snapshot. If this is another feed (of another channel or process), the first frame is a snapshot.", Schema: shortText()}
	afterSeq           = parameter{Name: "after", Description: "The seq of the last frame received from this channel's feed. The frames since then follow if all are still known, otherwise a snapshot.", Schema: wholeNumber(0, math.MaxInt64)}
	ofUser             = parameter{Name: "user", Description: "The user's ID, or login.", Schema: shortText()}
	toUser             = parameter{Name: "user", Description: "The user's ID, or with a channel the login.", Schema: shortText()}
	ofAuthor           = parameter{Name: "author", Description: "The author of the change.", Schema: shortText()}
	ofLimit            = parameter{Name: "limit", Description: "The limit's name.", Schema: shortText()}
	ofAction           = parameter{Name: "action", Description: "The action.", Schema: nameSchema(actions)}
	ofChange           = parameter{Name: "action", Description: "The kind of change.", Schema: nameSchema(journal.AuditActions)}
	ofResult           = parameter{Name: "result", Description: "The result.", Schema: nameSchema(journal.Results)}
	sinceTime          = parameter{Name: "since", Description: "day, stream, or a time. Default: day.", Schema: shortText()}
	fromTime           = parameter{Name: "from", Description: "Only messages at or after this time.", Schema: timeSchema}
	untilTime          = parameter{Name: "until", Description: "Only messages before this time.", Schema: timeSchema}
	actGiven           = parameter{Name: "given", Description: "When the caller gave it, as in the undo of the answer.", Schema: timeSchema}
	beforeEntry        = parameter{Name: "before", Description: "Only entries older than the one with this ID.", Schema: wholeNumber(1, math.MaxInt64)}
	beforeChange       = parameter{Name: "before", Description: "Only changes older than the one with this ID.", Schema: wholeNumber(1, math.MaxInt64)}
	beforeRevision     = parameter{Name: "before", Description: "Only revisions with lower numbers.", Schema: wholeNumber(1, math.MaxInt32)}
	revisionsAtMost    = parameter{Name: "n", Description: "Maximum number. Default: 50. There may be fewer if they are long.", Schema: wholeNumber(1, mostRevisions)}
	afterUser          = parameter{Name: "after", Description: "Only users with higher IDs.", Schema: shortText()}
	pageLength         = parameter{Name: "n", Description: "Maximum number. Default: 100.", Schema: wholeNumber(1, mostPage)}
	inFormat           = parameter{Name: "format", Description: "Default: json.", Schema: nameSchema(formats)}
	whoNoted           = parameter{Name: "noted", Description: "Only users with notes.", Schema: nameSchema([]string{"true"})}
	ofName             = parameter{Name: "name", Description: "The user's ID, or a part of the login or display name; needs a channel. At most 200 users match.", Schema: shortText()}
	ofEntry            = parameter{Name: "entry", Description: "Only the entry with this ID.", Schema: wholeNumber(1, math.MaxInt64)}
)

// presence says whether a request has a header.
type presence int

const (
	absent   presence = iota // the route ignores it
	accepted                 // optional
	required                 // the route refuses a request without the header
)

// ifMatchHeader returns the If-Match header, which keeps two moderators from overwriting each
// other's changes.
func ifMatchHeader(p presence) parameter {
	return parameter{
		Name: "If-Match", In: "header", Required: p == required, Schema: &jsonschema.Schema{Type: "string"},
		Description: "The ETag of the policy, or the user's override_etag; * matches any.",
	}
}

// ifNoneMatchHeader returns the If-None-Match header, which saves an answer that the sender has.
func ifNoneMatchHeader() parameter {
	return parameter{Name: "If-None-Match", In: "header", Schema: &jsonschema.Schema{Type: "string"}, Description: "The ETag of the last answer."}
}

// pathParameter returns a path parameter.
func pathParameter(name string) parameter {
	about := map[string]string{"channel": "The channel's ID.", "id": "The user's ID.", "entry": "The journal entry's ID.", "pardon": "The pardon's ID.", "note": "The note's ID.",
		"webhook": "The webhook's ID.", "delivery": "The delivery's ID.", "name": "The name.", "link": "The link's ID.", "session": "The session's ID."}
	return parameter{Name: name, In: "path", Required: true, Description: about[name], Schema: shortText()}
}

func shortText() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", MaxLength: jsonschema.Ptr(problem.MaxText)}
}

func wholeNumber(least, most int64) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "integer", Format: "int64", Minimum: jsonschema.Ptr(float64(least))}
	if most < math.MaxInt64 { // math.MaxInt64 is not representable as a float64
		s.Maximum = jsonschema.Ptr(float64(most))
	}
	return s
}

// nameSchema returns the schema of a string that is one of those known.
func nameSchema[T ~string](known []T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, name := range known {
		s.Enum = append(s.Enum, string(name))
	}
	return s
}
