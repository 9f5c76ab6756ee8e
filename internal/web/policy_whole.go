package web

import (
	"encoding/json"
	"net/http"

	"github.com/chatguard/chatguard"
)

// wholePolicy is a policy as a request has to bring it: with every key of its own, so that nobody takes away by leaving out.
type wholePolicy struct{ chatguard.Policy }

// policyKeys are those keys.
var policyKeys = []string{"mode", "exempt", "timezone", "limits", "penalties"}

// UnmarshalJSON refuses unknown keys, and a policy that lacks one of its own or has null there.
func (p *wholePolicy) UnmarshalJSON(data []byte) error {
	if err := strictly(data, &p.Policy); err != nil {
		return err
	}
	var stated map[string]json.RawMessage
	if err := json.Unmarshal(data, &stated); err != nil {
		return err
	}
	for _, key := range policyKeys {
		if value, ok := stated[key]; !ok || string(value) == "null" {
			return refuse(http.StatusUnprocessableEntity, "The policy lacks %q: send all of it, as it is read.", key)
		}
	}
	return nil
}
