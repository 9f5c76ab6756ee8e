package chatguard

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// PolicyHash returns a hash of Guard.Policy, so that Guards that share limits can find out whether
// they have the same policy. It has 16 hexadecimal digits. The policies of single channels and
// overlays have no effect on it.
func (g *Guard) PolicyHash() string {
	policy := g.channels.base.Load().policy.Clone()
	policy.stateDefaults()
	text, err := json.Marshal(policy)
	if err != nil {
		return "" // a policy that compiles can be written
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// stateDefaults fills in what a policy may leave out, so that equal policies have the same text.
func (p *Policy) stateDefaults() {
	p.Timezone = cmp.Or(p.Timezone, "UTC")
	for i := range p.Limits {
		if l := &p.Limits[i]; l.Algorithm == DailyWindow {
			l.Timezone, l.ResetAt = cmp.Or(l.Timezone, p.Timezone), cmp.Or(l.ResetAt, "00:00")
		}
	}
}
