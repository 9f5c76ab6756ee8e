package limits

import (
	"math/bits"
	"slices"
)

// The bounds of a policy's roles.
const (
	MaxRoles    = 64
	MaxRoleName = 64 // bytes
)

// IsRoleName reports whether a role, or a kind of message, can have that name: it has no characters
// that JSON, a dotted key or a list separated by commas would have to quote.
func IsRoleName(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == ':':
		default:
			return false
		}
	}
	return 0 < len(name) && len(name) <= MaxRoleName
}

// RoleList is the roles that a policy knows, highest first. Each has a bit: that of the highest is
// bit 0. It is immutable. A nil list has no roles.
type RoleList struct {
	names    []string
	bits     map[string]uint64
	everyone uint64 // the bit of the role that each user has; 0 if it isn't listed
}

// NewRoleList returns a list of at most MaxRoles different names. everyone is the role that each
// user has.
func NewRoleList(names []string, everyone string) *RoleList {
	l := &RoleList{names: slices.Clone(names), bits: make(map[string]uint64, len(names))}
	for i, name := range l.names {
		l.bits[name] = 1 << i
	}
	l.everyone = l.bits[everyone]
	return l
}

// Names returns the names, highest first. Don't change them.
func (l *RoleList) Names() []string { return l.names }

// Has reports whether the list has a role of that name.
func (l *RoleList) Has(name string) bool { return l.bits[name] != 0 }

// Roles are those roles of one user that a list knows. The zero value is none. Roles of the same
// list can be compared.
type Roles struct {
	list *RoleList
	bits uint64
}

// Of returns the roles of those names that the list knows.
func (l *RoleList) Of(names []string) Roles {
	r := Roles{list: l}
	for _, name := range names {
		r = r.With(name)
	}
	return r
}

// Everyone returns the roles of a user who has none of their own.
func (l *RoleList) Everyone() Roles { return Roles{l, l.everyone} }

// With returns the roles with one more, if their list knows it.
func (r Roles) With(name string) Roles { return Roles{r.list, r.bits | r.list.bits[name]} }

// HasAny reports whether the roles include one of the others, which must be of the same list.
func (r Roles) HasAny(others Roles) bool { return r.bits&others.bits != 0 }

// All calls yield with the name of each role, highest first.
func (r Roles) All(yield func(string) bool) {
	for rest := r.bits; rest != 0; rest &= rest - 1 {
		if !yield(r.list.names[bits.TrailingZeros64(rest)]) {
			return
		}
	}
}

// Own returns the roles without the one that each user has. It is the zero value if no others are
// left.
func (r Roles) Own() Roles {
	if r.list == nil || r.bits&^r.list.everyone == 0 {
		return Roles{}
	}
	r.bits &^= r.list.everyone
	return r
}

// IsEmpty reports whether there are no roles.
func (r Roles) IsEmpty() bool { return r.bits == 0 }

// in returns the bits of the roles in a list.
func (r Roles) in(list *RoleList) uint64 {
	if r.list == list {
		return r.bits
	}
	return r.translate(list)
}

// translate is in for roles of another list.
func (r Roles) translate(list *RoleList) uint64 {
	if list == nil {
		return 0
	}
	translated := list.everyone
	for name := range r.Own().All {
		translated |= list.bits[name]
	}
	return translated
}

// append appends the number of the user's own roles, and the length and the bytes of each name.
func (r Roles) append(b []byte) []byte {
	own := r.Own()
	b = appendNumbers(b, uint64(bits.OnesCount64(own.bits)))
	for name := range own.All {
		b = append(appendNumbers(b, uint64(len(name))), name...)
	}
	return b
}

// roles reads what Roles.append has written. It returns the roles that the list knows.
func (in *rowReader) roles(list *RoleList) (r Roles) {
	if r.list = list; list != nil {
		r.bits = list.everyone
	}
	for range in.number(MaxRoles) {
		name := in.text()
		if len(name) > MaxRoleName {
			in.fail()
		}
		if list != nil {
			r.bits |= list.bits[string(name)]
		}
	}
	return r
}
