package chatguard

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// PolicyHash returns a hash of Guard.Policy, so that Guards that share limits can find out whether
// they have the same policy. It has 16 hexadecimal digits. The policies of single channels and
// overlays have no effect on it.
func (g *Guard) PolicyHash() string {
	text, err := json.Marshal(g.base.Load().policy)
	if err != nil {
		return "" // a policy that compiles can be written
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
