package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/chatguard/chatguard/internal/hostile"
)

// Answer is Twitch's answer to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	// Unsure means that an earlier try may have been carried out, because it was not answered.
	Unsure bool
}

// OK reports whether Twitch carried out the request.
func (a Answer) OK() bool { return a.Status >= 200 && a.Status < 300 }

// isForeign reports whether a refusal comes from something between Twitch and this machine, or from
// another server, and so says nothing about the request. Twitch answers in JSON.
func (a Answer) isForeign() bool {
	return a.Status >= 400 && len(bytes.TrimSpace(a.Body)) > 0 && !json.Valid(a.Body)
}

// Says returns Twitch's explanation of a refusal: the message of its JSON, or the status if there
// is none.
func (a Answer) Says() string {
	var problem struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(a.Body, &problem) != nil || problem.Message == "" {
		return fmt.Sprintf("status %d", a.Status)
	}
	return fmt.Sprintf("status %d, %s", a.Status, hostile.Detail(problem.Message))
}

// Hide removes secrets from Twitch's explanation.
func (a *Answer) Hide(secrets ...string) {
	for _, secret := range secrets {
		if secret != "" {
			a.Body = bytes.ReplaceAll(a.Body, []byte(secret), []byte("[hidden]"))
		}
	}
}

// lacksScope reports whether Twitch refused the request because the token lacks a scope.
func (a Answer) lacksScope() bool {
	return (a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden) && strings.Contains(strings.ToLower(a.Says()), "missing scope")
}

// BudgetEmpty reports whether Twitch refuses a request because the request budget is empty. Twitch
// has other limits, whose refusals have the same status. A missing header doesn't mean that the
// budget is empty.
func (a Answer) BudgetEmpty() bool {
	left, err := strconv.Atoi(a.Header.Get("Ratelimit-Remaining"))
	return a.Status == http.StatusTooManyRequests && err == nil && left <= 0 && !a.isOtherLimit()
}

// isOtherLimit reports whether Twitch names another limit than the request budget.
func (a Answer) isOtherLimit() bool {
	for _, words := range []string{"for this broadcaster", "transports", "subscriptions", "cost exceeded"} {
		if strings.Contains(a.Says(), words) {
			return true
		}
	}
	return false
}
