package web

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// overriddenUser is a user with an override.
type overriddenUser struct {
	UserID string `json:"user_id"`
	Login  string `json:"login"` // empty if it is not known
	// DisplayName is omitted if it is not known or equals the login.
	DisplayName string                 `json:"display_name,omitempty"`
	Override    chatguard.UserOverride `json:"override"`
}

// overriddenUsers is the answer to a request for overridden users.
type overriddenUsers struct {
	Users []overriddenUser `json:"users"` // ordered by ID
	More  bool             `json:"more"`  // whether users with higher IDs exist
	// ByLimit is how many users of the channel have custom numbers, by limit name.
	ByLimit map[string]int `json:"by_limit"`
}

// getOverrides is GET /channels/{channel}/overrides?after=&n=.
func (h *users) getOverrides(w http.ResponseWriter, r *http.Request, _ access.Caller, channel string) error {
	q := problem.QueryOf(r)
	after, n := q.Text("after"), int(q.Number("n", usualPage, 1, mostPage))
	if q.Err != nil {
		return q.Err
	}
	page, err := h.overridesAfter(r.Context(), channel, after, n)
	if err != nil {
		return err
	}
	h.addLogins(r.Context(), channel, page.Users)
	return problem.WriteJSON(w, page)
}

// overridesAfter returns up to n users with an override and an ID above after, without their names.
func (h *users) overridesAfter(ctx context.Context, channel, after string, n int) (overriddenUsers, error) {
	page := overriddenUsers{Users: []overriddenUser{}, ByLimit: map[string]int{}}
	overrides, err := h.guard.UserOverrides(ctx, channel)
	if err != nil {
		return page, errOverrides(err)
	}
	for id, override := range overrides {
		for limit := range override.Limits {
			page.ByLimit[limit]++
		}
		if id <= after {
			continue
		}
		page.Users = append(page.Users, overriddenUser{UserID: id, Override: override})
		if len(page.Users) > 2*n {
			page.cut(n)
		}
	}
	page.cut(n)
	return page, nil
}

// errOverrides returns the problem for custom limits that the shared store doesn't list.
func errOverrides(err error) error {
	if err == nil {
		return nil
	}
	return errUnlisted(problem.New(http.StatusServiceUnavailable, "The shared store doesn't list the custom limits; chatguard's log has the details."), err)
}

// cut sorts the users and keeps the first n.
func (p *overriddenUsers) cut(n int) {
	slices.SortFunc(p.Users, func(a, b overriddenUser) int { return strings.Compare(a.UserID, b.UserID) })
	if len(p.Users) > n {
		clear(p.Users[n:])
		p.Users, p.More = p.Users[:n], true
	}
}

// addLogins adds the users' logins, if the database knows them.
func (h *users) addLogins(ctx context.Context, channel string, users []overriddenUser) {
	ids := make([]string, len(users))
	for i, u := range users {
		ids[i] = u.UserID
	}
	people, err := h.store.People(ctx, channel, ids)
	if err != nil {
		h.log.Warn("the logins of users with overrides can't be read", "error", err)
		return
	}
	for i := range users {
		person := people[users[i].UserID]
		users[i].Login, users[i].DisplayName = person.Login, person.DisplayName
	}
}
