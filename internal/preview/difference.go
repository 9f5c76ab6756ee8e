package preview

import (
	"cmp"
	"slices"
	"strings"
)

// Difference is a user who would have had more or fewer messages throttled.
type Difference struct {
	UserID    string `json:"user_id"`
	Login     string `json:"login"` // the latest
	InForce   int    `json:"in_force"`
	Candidate int    `json:"candidate"`
}

// Differences are the users, n at most, whose number of throttled messages is another in two Outcomes of the timeline; the largest differences first.
func Differences(t *Timeline, inForce, candidate *Outcome, n int) []Difference {
	differences := []Difference{}
	for i := range t.users {
		if a, b := inForce.throttled[i], candidate.throttled[i]; a != b {
			differences = append(differences, Difference{t.users[i].id, t.users[i].login, int(a), int(b)})
		}
	}
	slices.SortFunc(differences, largestFirst)
	return differences[:min(n, len(differences))]
}

// largestFirst orders Differences; among equals, by the user.
func largestFirst(a, b Difference) int {
	return cmp.Or(b.size()-a.size(), strings.Compare(a.UserID, b.UserID))
}

func (d *Difference) size() int { return max(d.Candidate-d.InForce, d.InForce-d.Candidate) }
