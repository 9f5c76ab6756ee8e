package check

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// checkedRoles are the roles of a message's author. An unknown one is ignored: if it were an error,
// its holders would have no limits at all.
type checkedRoles struct {
	known   chatguard.Roles
	ignored []string // unknown names, cut; at most maxIgnored
}

// maxIgnored is how many unknown roles of a message the answer names.
const maxIgnored = 8

var roleNames = chatguard.RoleNames() // by role

// UnmarshalJSONFrom reads a list of names.
func (r *checkedRoles) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	*r = checkedRoles{}
	switch from.PeekKind() {
	case '[':
	case 'n':
		return from.SkipValue()
	default:
		return errWrongKind[[]chatguard.Role](from)
	}
	if _, err := from.ReadToken(); err != nil {
		return err
	}
	for from.PeekKind() != ']' {
		if kind := from.PeekKind(); kind != '"' && kind != 0 {
			return errWrongKind[string](from)
		}
		name, err := from.ReadToken()
		if err != nil {
			return err
		}
		r.add(name.String())
	}
	_, err := from.ReadToken()
	return err
}

func (r *checkedRoles) add(name string) {
	if role := slices.Index(roleNames, name); role >= 0 {
		r.known |= chatguard.RolesOf(chatguard.Role(role))
	} else if name = hostile.Clip(name, problem.MaxQuoted); len(r.ignored) < maxIgnored && !slices.Contains(r.ignored, name) {
		r.ignored = append(r.ignored, name)
	}
}

// checkedKind is the kind of a message; zero means an ordinary one. An unknown name is ignored, as
// an unknown role is.
type checkedKind struct {
	known   chatguard.MessageKind
	changed bool // an unknown name was ignored
}

// UnmarshalText reads names, separated by commas.
func (k *checkedKind) UnmarshalText(text []byte) error {
	*k = checkedKind{}
	if len(text) == 0 {
		return nil // an ordinary message
	}
	for name := range strings.SplitSeq(string(text), ",") {
		var kind chatguard.MessageKind
		if err := kind.UnmarshalText([]byte(name)); err != nil {
			k.changed = true
			continue
		}
		k.known |= kind
	}
	return nil
}
