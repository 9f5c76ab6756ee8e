package chatguard

// LimitMode says whether a single limit throttles.
type LimitMode uint8

// The modes of a limit.
const (
	LimitEnforces LimitMode = iota // as its policy says
	LimitObserves                  // only reports what it would have throttled, in an enforcing policy too
)

var limitModeNames = [...]string{"enforce", "observe"}

// String is the mode's name, as configuration and JSON spell it.
func (m LimitMode) String() string { return nameOf(limitModeNames[:], "mode", uint8(m)) }

// MarshalText writes "enforce" or "observe".
func (m LimitMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads "enforce" or "observe".
func (m *LimitMode) UnmarshalText(text []byte) (err error) {
	*m, err = named[LimitMode](limitModeNames[:], "mode", text)
	return err
}
