package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Extra messages pass when the regular ones are spent, from the time of their grant on.
func TestGrant(t *testing.T) {
	const limits = `{"name": "burst", "algorithm": "token-bucket", "burst": 1, "refill": "1h"}, {"name": "room", "algorithm": "token-bucket", "per": "channel", "burst": 9, "refill": "1h"}`
	answer := run(t, `{"lanes": [{"limits": [`+limits+`], "grants": [{"at": 2000, "user_id": "anna", "messages": 2}, {"at": 9000, "user_id": "anna", "messages": 5}]}, {"limits": [`+limits+`]}],
		"messages": [{"at": 1000, "user_id": "anna"}, {"at": 1999, "user_id": "anna"}, {"at": 2000, "user_id": "berta"}, {"at": 2000, "user_id": "anna"}, {"at": 3000, "user_id": "anna"}, {"at": 4000, "user_id": "anna"}]}`)
	var got []string
	for _, s := range answer.Lanes[0].Steps {
		var pictures []struct{ Granted int }
		must(t, json.Unmarshal(s.Pictures, &pictures))
		got = append(got, fmt.Sprint(s.Allowed, pictures[0].Granted, pictures[1].Granted))
	}
	if got, want := strings.Join(got, ", "), "true 0 0, false 0 0, true 0 0, true 1 0, true 0 0, false 0 0"; got != want {
		t.Errorf("allowed and extra messages left: %s, want %s", got, want)
	}
	if passed := answer.Lanes[1].Figures.Allowed; passed != 2 {
		t.Errorf("without grants, %d passed, want 2", passed)
	}
	lapse, err := json.Marshal(answer.Lanes[0].Grants)
	must(t, err)
	if want := `[{"until":[86402000,null]},{"until":[86409000,null]}]`; string(lapse) != want {
		t.Errorf("grants %s, want %s", lapse, want)
	}
}

func TestGrant_Refused(t *testing.T) {
	for grants, want := range map[string]string{
		`{"at": 1, "user_id": "", "messages": 1}`: "lane 2: grant 1: set user_id to 1 to 256 bytes",
		`{"at": 1, "user_id": "a"}`:               "lane 2: grant 1: set messages to 1 to 1000000",
		`{"at": 2, "user_id": "a", "messages": 1}, {"at": 1, "user_id": "a", "messages": 1}`:                          "lane 2: grant 2: send grants in the order of their times",
		strings.Repeat(`{"at": 2, "user_id": "a", "messages": 1},`, 200) + `{"at": 2, "user_id": "a", "messages": 1}`: "lane 2: it has 201 grants: send 200 or fewer",
	} {
		_, err := Run(t.Context(), question(t, `{"lanes": [{"limits": []}, {"limits": [], "grants": [`+grants+`]}], "messages": [{"at": 1, "user_id": "a"}]}`))
		if refused := (*Error)(nil); !errors.As(err, &refused) || err.Error() != want {
			t.Errorf("%.80s: error %v, want %s", grants, err, want)
		}
	}
}
