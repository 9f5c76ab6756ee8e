package lab

import (
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
)

// Move is a change of the question's timezone while messages come. What was sent before stays
// spent. Limits with their own timezone keep it.
type Move struct {
	At       Moment `json:"at"`
	Timezone string `json:"timezone"` // IANA name
}

// check returns an error for an unknown timezone.
func (m *Move) check() error {
	if m == nil {
		return nil
	}
	if m.Timezone == "" {
		return errorf("move: it has no timezone: name one, such as \"America/New_York\"")
	}
	if err := (chatguard.Policy{Timezone: m.Timezone}).Validate(); err != nil {
		return errorf("move: %s", strings.TrimPrefix(err.Error(), "chatguard: "))
	}
	return nil
}

// mover applies a Move to a Guard when the Move is due.
type mover struct {
	move   *Move // nil if there is none, or it is done
	guard  *chatguard.Guard
	policy chatguard.Policy
}

// before applies the Move if it is due before the next message.
func (m *mover) before(next *chatguard.Message) error {
	if m.move == nil || next.SentAt.Before(m.move.At.Time()) {
		return nil
	}
	at := m.move.At.Time()
	m.policy.Timezone, m.move = m.move.Timezone, nil
	return inner.At(m.guard, at).SetPolicy(m.policy)
}
