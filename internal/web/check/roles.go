package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/roles"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// names are the roles of a message's author, or the kinds of a message, as a request has them.
type names struct {
	list []string
	err  error // there are too many, or one is too long
}

// maxUnknown is how many unknown names of a message the answer lists.
const maxUnknown = 8

func (n *names) add(name string) {
	switch {
	case n.err != nil || slices.Contains(n.list, name):
	case len(name) > limits.MaxRoleName:
		n.err = fmt.Errorf("%q has %d bytes, want %d or fewer", hostile.Clip(name, problem.MaxQuoted), len(name), limits.MaxRoleName)
	case len(n.list) == limits.MaxRoles:
		n.err = fmt.Errorf("want %d names or fewer", limits.MaxRoles)
	default:
		n.list = append(n.list, name)
	}
}

// unknown removes the names that aren't known from the list and returns them. They are ignored: if
// they were an error, their holders would have no limits at all.
func (n *names) unknown(isKnown func(name string) bool) (unknown []string) {
	n.list = slices.DeleteFunc(n.list, func(name string) bool {
		if isKnown(name) {
			return false
		}
		if name = hostile.Clip(name, problem.MaxQuoted); len(unknown) < maxUnknown && !slices.Contains(unknown, name) {
			unknown = append(unknown, name)
		}
		return true
	})
	return unknown
}

// checkedRoles are the roles of a message's author.
type checkedRoles struct{ names }

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

// checkedKinds are the kinds of a message; none means an ordinary one.
type checkedKinds struct{ names }

// UnmarshalText reads names, separated by commas.
func (k *checkedKinds) UnmarshalText(text []byte) error {
	*k = checkedKinds{}
	for name := range strings.SplitSeq(string(text), ",") {
		if name = strings.TrimSpace(name); name != "" && name != roles.Ordinary {
			k.add(name)
		}
	}
	return nil
}

// useNames sets the roles of the message's author and its kinds, without those that the policy in
// force doesn't know. It removes an unknown zone. It returns what it leaves out.
func (k *Checker) useNames(m *chatguard.Message, read *checkedMessage) (unknown unknownNames) {
	guard := inner.Of(k.opts.Guard)
	unknown.roles = read.Roles.unknown(func(name string) bool { return guard.KnowsRole(m.ChannelID, chatguard.Role(name)) })
	for _, name := range read.Roles.list {
		m.User.Roles = append(m.User.Roles, chatguard.Role(name))
	}
	unknown.kinds = read.Kinds.unknown(func(name string) bool {
		return slices.Contains(roles.TwitchKinds, name) || guard.KnowsKind(m.ChannelID, name)
	})
	m.Kinds = read.Kinds.list
	if errors.Is(m.Validate(), chatguard.ErrTimezone) {
		unknown.timezone, m.User.Timezone = hostile.Clip(m.User.Timezone, problem.MaxQuoted), ""
	}
	return unknown
}

// unknownNames are the names that were ignored.
type unknownNames struct {
	roles, kinds []string
	timezone     string
}
