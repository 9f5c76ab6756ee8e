package web

import (
	"encoding/json"
	"net/http"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// wholePolicy is a policy in a request. The request must contain all top-level keys, so that
// nothing is removed by omission.
type wholePolicy struct{ chatguard.Policy }

// policyKeys are the top-level keys that a wholePolicy requires. Without exempt_messages, no kind
// of message is exempt; without roles, they stay as they are.
var policyKeys = []string{"mode", "exempt", "timezone", "limits", "penalties"}

// withRoles returns the policy. If the request doesn't state its roles, they stay those before.
func (p *wholePolicy) withRoles(before chatguard.Policy) chatguard.Policy {
	if p.Roles == nil {
		p.Roles = before.Roles
	}
	return p.Policy
}

// UnmarshalJSON refuses unknown keys, and a policy in which one of policyKeys is missing or null.
func (p *wholePolicy) UnmarshalJSON(data []byte) error {
	if err := problem.Unmarshal(data, &p.Policy); err != nil {
		return err
	}
	var stated map[string]json.RawMessage
	if err := json.Unmarshal(data, &stated); err != nil {
		return err
	}
	for _, key := range policyKeys {
		if value, ok := stated[key]; !ok || string(value) == "null" {
			return problem.New(http.StatusUnprocessableEntity, "The policy lacks %q: send the complete policy, as GET returns it.", key)
		}
	}
	return nil
}
