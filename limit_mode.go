package chatguard

// LimitMode says whether a single limit throttles.
type LimitMode uint8

// The modes of a limit.
const (
	LimitEnforces LimitMode = iota // throttles if its policy enforces
	// LimitObserves means that the limit only reports the messages that it would have throttled,
	// even if the policy enforces.
	LimitObserves
)

var limitModeNames = [...]string{"enforce", "observe"}

// String returns the mode's name as used in configuration and JSON.
func (m LimitMode) String() string { return nameOf(limitModeNames[:], "mode", uint8(m)) }

// MarshalText writes "enforce" or "observe".
func (m LimitMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads "enforce" or "observe".
func (m *LimitMode) UnmarshalText(text []byte) (err error) {
	*m, err = parseName[LimitMode](limitModeNames[:], "mode", text)
	return err
}
