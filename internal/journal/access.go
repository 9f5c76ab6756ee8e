package journal

// Access is what the holder of a token may do.
type Access string

// The kinds of access. Moderating includes viewing, and owning includes everything.
const (
	AccessView     Access = "view"     // see everything, change nothing
	AccessModerate Access = "moderate" // change users, limits and switches
	AccessOwn      Access = "own"      // everything
	AccessCheck    Access = "check"    // have messages of another chat judged, and nothing else
	AccessAny      Access = ""         // what everybody has; only ever needed, never given
)

// Allows reports whether whoever has this access may do what needs the other.
func (a Access) Allows(needed Access) bool {
	switch needed {
	case AccessAny:
		return true
	case AccessView:
		return a == AccessView || a == AccessModerate || a == AccessOwn
	case AccessModerate:
		return a == AccessModerate || a == AccessOwn
	case AccessOwn, AccessCheck:
		return a == needed || a == AccessOwn
	}
	return false
}

// Holder is who has a token, or a session that began with one.
type Holder struct {
	Name   string `json:"name"`
	Access Access `json:"access"`
}
