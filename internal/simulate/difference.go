package simulate

import (
	"cmp"
	"slices"
	"strings"
)

// Difference is a user for whom two policies throttle different numbers of messages.
type Difference struct {
	UserID string `json:"user_id"`
	Login  string `json:"login"` // latest login
	// DisplayName is empty: a Timeline doesn't know it. The caller may add it.
	DisplayName string `json:"display_name,omitempty"`
	InForce     int    `json:"in_force"`
	Candidate   int    `json:"candidate"`
}

// Differences returns up to n users whose numbers of throttled messages differ between two Outcomes
// of the timeline, largest difference first.
func Differences(t *Timeline, inForce, candidate *Outcome, n int) []Difference {
	differences := []Difference{}
	for i := range t.users {
		if a, b := inForce.throttled[i], candidate.throttled[i]; a != b {
			differences = append(differences, Difference{UserID: t.users[i].id, Login: t.users[i].login, InForce: int(a), Candidate: int(b)})
		}
	}
	slices.SortFunc(differences, compareLargestFirst)
	return differences[:min(n, len(differences))]
}

// compareLargestFirst compares Differences by size, then by user.
func compareLargestFirst(a, b Difference) int {
	return cmp.Or(b.size()-a.size(), strings.Compare(a.UserID, b.UserID))
}

func (d *Difference) size() int { return max(d.Candidate-d.InForce, d.InForce-d.Candidate) }
