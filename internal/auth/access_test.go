package auth

import (
	"slices"
	"testing"
)

func TestAccess_Allows(t *testing.T) {
	for access, allowed := range map[Access][]Access{
		View:     {Any, View},
		Moderate: {Any, View, Moderate},
		Own:      {Any, View, Moderate, Own, Check},
		Check:    {Any, Check},
		Any:      {Any},
		"other":  {Any},
	} {
		for _, needed := range []Access{Any, View, Moderate, Own, Check} {
			if got := access.Allows(needed); got != slices.Contains(allowed, needed) {
				t.Errorf("%q allows %q: %v", access, needed, got)
			}
		}
		if access != "other" && access.Allows("other") {
			t.Errorf("%q allows what is unknown", access)
		}
	}
}
