package chatguard

// Priority is the priority of a message. The zero value is Normal.
type Priority uint8

// The priorities.
const (
	Normal Priority = iota
	// Low means that a [Cascade] allows the message only beyond what it allows at normal priority.
	// Limits keep their Reserve from it.
	Low
)

var priorityNames = [...]string{"normal", "low"}

// String returns the priority's name as used in JSON.
func (p Priority) String() string { return nameOf(priorityNames[:], "priority", uint8(p)) }

// MarshalText writes "normal" or "low".
func (p Priority) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText parses "normal" or "low".
func (p *Priority) UnmarshalText(text []byte) (err error) {
	*p, err = parseName[Priority](priorityNames[:], "priority", text)
	return err
}
