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

// problem is the JSON with which Twitch explains a refusal.
type problem struct {
	Status  int    `json:"status"`
	Error   string `json:"error"`
	Message string `json:"message"`
}

// isExplained reports whether a refusal comes from Twitch's API. Others come from something between
// Twitch and this machine, or from another server, and say nothing about the request.
func (a Answer) isExplained() bool {
	var p problem
	return json.Unmarshal(a.Body, &p) == nil && p != problem{}
}

// Says returns Twitch's explanation of a refusal: the message of its JSON, or the status if there
// is none.
func (a Answer) Says() string {
	var p problem
	if json.Unmarshal(a.Body, &p) != nil || p.Message == "" {
		return fmt.Sprintf("status %d", a.Status)
	}
	return fmt.Sprintf("status %d, %s", a.Status, hostile.Detail(p.Message))
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
// has other limits, whose refusals have the same status. Only the header tells them apart, so a
// missing header doesn't mean that the budget is empty.
func (a Answer) BudgetEmpty() bool {
	left, err := strconv.Atoi(a.Header.Get("Ratelimit-Remaining"))
	return a.Status == http.StatusTooManyRequests && err == nil && left <= 0
}
