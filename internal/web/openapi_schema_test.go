//go:build !race

package web

import (
	"cmp"
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/lab"
	"github.com/chatguard/chatguard/internal/simulate"
	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/internal/web/problem"
	"github.com/chatguard/chatguard/limitinfo"
	"github.com/chatguard/chatguard/shared"
)

var (
	timeSchema   = &jsonschema.Schema{Type: "string", Format: "date-time"}
	lengthSchema = &jsonschema.Schema{Type: "string", Description: "A duration: 4s, 30m, 1h30m."}
	frameTypes   = []live.FrameType{live.SnapshotFrame, live.ThrottledFrame, live.StatusFrame, live.PolicyFrame}
)

// components are the types that have a name in the document, because they occur in several places.
var components = map[string]reflect.Type{
	"Channel": typeOf[live.Channel](), "Change": typeOf[journal.Change](), "Audit": typeOf[shownAudit](), "Entry": typeOf[shownEntry](), "Outcome": typeOf[journal.Outcome](),
	"Frame": typeOf[live.Frame](), "Limit": typeOf[chatguard.Limit](), "LimitStatus": typeOf[limitinfo.Status](), "Override": typeOf[chatguard.Override](),
	"Note": typeOf[journal.Note](), "Person": typeOf[foundUser](), "Policy": typeOf[chatguard.Policy](), "PreviewOutcome": typeOf[simulate.Outcome](), "Problem": typeOf[problem.Problem](),
	"Said": typeOf[live.Said](), "Unidentified": typeOf[live.Unidentified](), "Settings": typeOf[control.Settings](), "Silence": typeOf[journal.Silence](),
	"Throttled": typeOf[live.Throttled](), "UserOverride": typeOf[chatguard.UserOverride](), "Verdict": typeOf[verdict](),
}

// labStep is the JSON form of lab.Step.
type labStep struct {
	Allowed      bool             `json:"allowed"`
	Limit        string           `json:"limit"`
	Priority     string           `json:"priority,omitempty"`
	RetryAfterMS *int64           `json:"retry_after_ms"`
	DelayMS      int64            `json:"delay_ms"`
	Remaining    *int             `json:"remaining"`
	ResetAt      *float64         `json:"reset_at"`
	Picture      map[string]any   `json:"picture,omitempty"`
	Pictures     []map[string]any `json:"pictures,omitempty"`
}

// specialSchemas returns the schemas of types with their own JSON encoding.
func specialSchemas() map[reflect.Type]*jsonschema.Schema {
	name := &jsonschema.Schema{Type: "string", Pattern: "^[A-Za-z0-9_:-]{1,64}$"}
	return map[reflect.Type]*jsonschema.Schema{
		typeOf[time.Time]():             timeSchema,
		typeOf[journal.OptionalTime]():  {Types: []string{"null", "string"}, Format: "date-time"},
		typeOf[time.Duration]():         lengthSchema,
		typeOf[control.Duration]():      lengthSchema,
		typeOf[control.Lengths]():       {Type: "array", Items: lengthSchema, MinItems: jsonschema.Ptr(1), MaxItems: jsonschema.Ptr(6)},
		typeOf[chatguard.Role]():        name,
		typeOf[chatguard.Roles]():       {Type: "array", Items: name},
		typeOf[chatguard.Penalty]():     {Type: "string", Description: "none, delete, warn, timeout 30s, timeout refill, ban or drop"},
		typeOf[chatguard.Action]():      nameSchema(actions),
		typeOf[chatguard.Mode]():        textSchema(chatguard.ModeEnforce, chatguard.ModeObserve),
		typeOf[chatguard.Exemption]():   nameSchema([]chatguard.Exemption{byRole, chatguard.ExemptAlways, chatguard.ExemptNever}),
		typeOf[chatguard.Scope]():       textSchema(chatguard.PerUser, chatguard.PerUserEverywhere, chatguard.PerChannel, chatguard.PerEverywhere, chatguard.PerUserText, chatguard.PerText),
		typeOf[chatguard.Priority]():    nameSchema([]chatguard.Priority{chatguard.PriorityLow}),
		typeOf[limitinfo.Kind]():        nameSchema([]limitinfo.Kind{limitinfo.KindCount, limitinfo.KindDuration, limitinfo.KindZone, limitinfo.KindClock, limitinfo.KindChoice, limitinfo.KindSwitch}),
		typeOf[chatguard.Period]():      nameSchema([]chatguard.Period{chatguard.PeriodDay, chatguard.PeriodWeek, chatguard.PeriodMonth}),
		typeOf[auth.Access]():           nameSchema(append(auth.Ladder(), auth.Check, auth.Overlay)),
		typeOf[auth.Origin]():           nameSchema(auth.Origins()),
		typeOf[viewerReason]():          nameSchema([]viewerReason{reasonLimit, reasonBusy, reasonTimeout, reasonBan}),
		typeOf[journal.Result]():        nameSchema(journal.Results),
		typeOf[journal.SilenceResult](): nameSchema(journal.SilenceResults),
		typeOf[journal.AuditAction]():   nameSchema(journal.AuditActions),
		typeOf[live.FrameType]():        nameSchema(frameTypes),
		typeOf[live.UnreadReason]():     nameSchema(live.UnreadReasons),
		typeOf[shared.Mode]():           nameSchema(live.ShareModes),
		typeOf[wholePolicy]():           reference("Policy"),
		typeOf[checkedTime]():           {Types: []string{"string", "integer"}},
		typeOf[chatguard.Verdict]():     reference("Verdict"),
		typeOf[batchVerdict]():          {AnyOf: []*jsonschema.Schema{reference("Verdict"), must(jsonschema.ForType(typeOf[failedForm](), nil))}},
		// their durations are in nanoseconds
		typeOf[journal.Offence]():     must(jsonschema.ForType(typeOf[journal.Offence](), nil)),
		typeOf[live.Shared]():         sharedSchema(typeOf[live.Shared]()),
		typeOf[journal.Database]():    databaseSchema(),
		typeOf[refundForm]():          refundSchema(),
		typeOf[chatguard.TextPrint](): {Type: "string", Description: "Identifies a text, without the text."},
		typeOf[lab.Duration]():        lengthSchema,
		typeOf[lab.Moment]():          {Type: "number"},
		typeOf[lab.Pause]():           {Type: "string", Description: "4s+500ms: for 500ms after 4s."},
		typeOf[lab.Turn]():            {Type: "string", Description: "10ms/1s: the first 10ms of each second."},
		typeOf[lab.Step]():            must(jsonschema.ForType(typeOf[labStep](), nil)),
		typeOf[Nodes]():               nodesSchema(),
	}
}

// textSchema returns the schema of a string that is one of the given values' texts.
func textSchema(values ...encoding.TextMarshaler) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, v := range values {
		text, err := v.MarshalText()
		if err != nil {
			panic(err) // an undefined value
		}
		s.Enum = append(s.Enum, string(text))
	}
	return s
}

// databaseSchema returns the schema of journal.Database, whose lag is in seconds in JSON.
func databaseSchema() *jsonschema.Schema {
	s := must(jsonschema.ForType(typeOf[journal.Database](), &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{typeOf[time.Time](): timeSchema}}))
	s.Properties["lag_seconds"] = &jsonschema.Schema{Type: "number"}
	return s
}

// sharedSchema returns the schema of a type about shared limits.
func sharedSchema(t reflect.Type) *jsonschema.Schema {
	return must(jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		typeOf[time.Time](): timeSchema, typeOf[shared.Mode](): nameSchema(live.ShareModes),
	}}))
}

// nodesSchema returns the schema of Nodes, which is only a mode and no nodes if a node is alone.
func nodesSchema() *jsonschema.Schema {
	s := sharedSchema(typeOf[Nodes]())
	s.Required = []string{"mode", "nodes"}
	return s
}

// refundSchema returns the schema of refundForm, which may have all the fields of a verdict.
func refundSchema() *jsonschema.Schema {
	s := must(jsonschema.ForType(typeOf[refundForm](), &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{typeOf[time.Time](): timeSchema}}))
	s.AdditionalProperties = nil
	return s
}

// must returns s, or panics if there is an error. Use it for types that are known to have a schema.
func must(s *jsonschema.Schema, err error) *jsonschema.Schema {
	if err != nil {
		panic(err)
	}
	return s
}

func reference(component string) *jsonschema.Schema {
	return &jsonschema.Schema{Ref: "#/components/schemas/" + component}
}

// schemas holds the schemas of types. Schemas refer to components by name.
type schemas map[reflect.Type]*jsonschema.Schema

func newSchemas() schemas {
	all := specialSchemas()
	for name, t := range components {
		all[t] = reference(name)
	}
	return all
}

// schemaOf returns the schema of a type.
func (s schemas) schemaOf(t reflect.Type) (*jsonschema.Schema, error) {
	schema, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: s})
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	tidy(schema)
	return schema, nil
}

// component returns the schema of a component.
func (s schemas) component(t reflect.Type) (*jsonschema.Schema, error) {
	itself := s[t]
	delete(s, t)
	defer func() { s[t] = itself }()
	return s.schemaOf(t)
}

// tidy corrects inferred schemas and adds descriptions to properties. A pointer to a component is
// never null here, and neither is a list. The exception is the list of changes in a revision: it is
// null if the revision returns to the configuration's policy.
func tidy(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Ref != "" {
		s.Types = nil
	}
	if slices.Contains(s.Types, "array") {
		s.Type, s.Types = "array", nil
	}
	for key, p := range s.Properties {
		tidy(p)
		p.Description = cmp.Or(p.Description, meanings[key])
	}
	if p := s.Properties["changes"]; p != nil && s.Properties["number"] != nil {
		p.Type, p.Types = "", []string{"null", "array"}
	}
	tidy(s.Items)
	tidy(s.AdditionalProperties)
}
