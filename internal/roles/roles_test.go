package roles

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/limits"
)

func TestModerate(t *testing.T) {
	for _, test := range []struct {
		roles chatguard.Roles
		want  bool
	}{
		{nil, false},
		{chatguard.Roles{VIP, Subscriber}, false},
		{chatguard.Roles{Subscriber, Moderator}, true},
		{chatguard.Roles{LeadModerator}, true},
		{chatguard.Roles{Broadcaster}, true},
	} {
		if got := Moderate(test.roles); got != test.want {
			t.Errorf("%s: %v", test.roles, got)
		}
	}
}

func TestWithout(t *testing.T) {
	all := chatguard.Roles{VIP, Moderator, Subscriber}
	if got := Without(all, Moderator); !slices.Equal(got, chatguard.Roles{VIP, Subscriber}) {
		t.Errorf("got %s", got)
	}
	if got := Without(chatguard.Roles{VIP}, VIP); got != nil || !slices.Equal(all, chatguard.Roles{VIP, Moderator, Subscriber}) {
		t.Errorf("got %v of one role, and the list is now %s", got, all)
	}
}

// TestSet_Roles gives the roles highest first, in whatever order they were added.
func TestSet_Roles(t *testing.T) {
	var none Set
	if got := none.Roles(); len(got) != 0 {
		t.Errorf("the empty set has %s", got)
	}
	if got := none.With(Subscriber).With(Broadcaster).With(Subscriber).Roles(); !slices.Equal(got, chatguard.Roles{Broadcaster, Subscriber}) {
		t.Errorf("got %s", got)
	}
	if got := (KindOf(Resub) | KindOf(Bits)).Kinds(); !slices.Equal(got, []string{Bits, Resub}) {
		t.Errorf("got %s", got)
	}
	for _, kind := range TwitchKinds { // all fit in a set
		if got := KindOf(kind).Kinds(); !slices.Equal(got, []string{kind}) {
			t.Errorf("the set of %s has %s", kind, got)
		}
	}
}

func TestKinds_Text(t *testing.T) {
	for text, want := range map[string]Kinds{"": nil, Ordinary: nil, "bits": {Bits}, "bits, highlighted": {Bits, Highlighted}, "own,bits": {"own", Bits}} {
		var got Kinds
		if err := got.UnmarshalText([]byte(text)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		var again Kinds
		written, _ := got.MarshalText()
		if err := again.UnmarshalText(written); err != nil || !slices.Equal(again, want) {
			t.Errorf("%q, written as %q: %v, %v", text, written, again, err)
		}
	}
	for _, text := range []string{"two words", "bits,", "a/b", strings.Repeat("a", limits.MaxRoleName+1), strings.Repeat("a,", limits.MaxRoles) + "a"} {
		if err := new(Kinds).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%.80q is accepted", text)
		}
	}
}

// TestNumbers_Of numbers each set once, and gives the set back. What doesn't fit has no number.
func TestNumbers_Of(t *testing.T) {
	var n Numbers[chatguard.Role]
	if n.Of(nil) != 0 || n.Set(0) != nil {
		t.Error("no roles have a number")
	}
	set := []chatguard.Role{VIP, Subscriber}
	first := n.Of(set)
	set[0] = Moderator // the caller's slice
	if other := n.Of(set); other == first || n.Of([]chatguard.Role{VIP, Subscriber}) != first {
		t.Errorf("numbers %d, %d", first, other)
	}
	if got := n.Set(first); !slices.Equal(got, []chatguard.Role{VIP, Subscriber}) {
		t.Errorf("set %v", got)
	}
	for i := range 1 << 16 {
		n.Of([]chatguard.Role{chatguard.Role(fmt.Sprint(i))})
	}
	if got := n.Of([]chatguard.Role{"one too many"}); got != 0 {
		t.Errorf("a set beyond the last number has %d", got)
	}
}
