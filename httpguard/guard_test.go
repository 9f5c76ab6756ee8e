package httpguard

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
)

var monday = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// newEnforcingGuard returns a Guard that enforces the default policy after a change.
func newEnforcingGuard(t testing.TB, change func(*chatguard.Policy), opts *chatguard.Options) *chatguard.Guard {
	t.Helper()
	p := chatguard.DefaultPolicy()
	p.Mode = chatguard.ModeEnforce
	if change != nil {
		change(&p)
	}
	g, err := chatguard.New(p, opts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// mustDoor returns a Door for the Guard's connections.
func mustDoor(t testing.TB, guard *chatguard.Guard, opts connguard.Options) *connguard.Door {
	t.Helper()
	door, err := connguard.New(guard, &opts)
	if err != nil {
		t.Fatal(err)
	}
	return door
}

// messageFrom returns a message that a user sends in channel "1" some seconds after monday.
func messageFrom(user string, seconds float64, roles ...chatguard.Role) chatguard.Message {
	return chatguard.Message{
		ChannelID: "1", User: chatguard.User{ID: user, Roles: chatguard.Roles(roles)},
		SentAt: monday.Add(time.Duration(seconds * float64(time.Second))),
	}
}

func mustCheck(t testing.TB, g *chatguard.Guard, m chatguard.Message) chatguard.Verdict {
	t.Helper()
	v, err := g.Check(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
