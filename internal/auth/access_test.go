package auth

import (
	"slices"
	"testing"
)

func TestAccess_Allows(t *testing.T) {
	every := []Access{Any, View, Help, Moderate, ModerateNotices, Own, Check, Overlay}
	for access, allowed := range map[Access][]Access{
		View:            {Any, View, Overlay},
		Help:            {Any, View, Help, Overlay},
		Moderate:        {Any, View, Help, Moderate, Overlay},
		ModerateNotices: {Any, View, Help, Moderate, ModerateNotices, Overlay},
		Own:             every,
		Check:           {Any, Check},
		Overlay:         {Any, Overlay},
		Any:             {Any},
		"other":         {Any},
	} {
		for _, needed := range every {
			if got := access.Allows(needed); got != slices.Contains(allowed, needed) {
				t.Errorf("%q allows %q: %v", access, needed, got)
			}
		}
		if access != "other" && access.Allows("other") {
			t.Errorf("%q allows what is unknown", access)
		}
	}
}

// New tokens and links never have the access of earlier versions, and links always open the
// dashboard.
func TestRoles(t *testing.T) {
	for _, role := range PeoplesRoles() {
		if !role.Allows(View) || !slices.Contains(Roles(), role) {
			t.Errorf("a link for %q", role)
		}
	}
	if slices.Contains(Roles(), ModerateNotices) || slices.Contains(Roles(), Any) {
		t.Errorf("%q", Roles())
	}
}
