package web

import (
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/web/live"
)

// fixedConfig is a configuration that has this policy for all channels. If onRead is set, it is
// called whenever the configuration is read.
type fixedConfig struct {
	policy chatguard.Policy
	onRead func()
}

func (f fixedConfig) Default() chatguard.Policy {
	if f.onRead != nil {
		f.onRead()
	}
	return f.policy.Clone()
}

func (f fixedConfig) Policy(string) chatguard.Policy { return f.Default() }
func (fixedConfig) Channels() []string               { return nil }

// reload loads a configuration that has one more change.
func (d *dashboard) reload(edit func(*chatguard.Policy)) error {
	base := d.guard.Policy()
	edit(&base)
	return d.opts.Live.Policies.Reload(fixedConfig{policy: base}, func() error { return nil })
}

func TestRebase_AppliesAtOnce(t *testing.T) {
	d := dash(t)
	d.say(spammer, 4)
	l := d.listen()
	l.next(live.SnapshotFrame)
	if err := d.reload(func(p *chatguard.Policy) { p.Limits[0].Burst = 9 }); err != nil {
		t.Fatal(err)
	}
	if users := d.throttledUsers(); len(users) > 0 {
		t.Errorf("with a burst of 9: %+v", users)
	}
	if fr := l.next(live.PolicyFrame); fr.Policy.ETag != policies.Tag(d.guard.ChannelPolicy(channelID)) || fr.Policy.Revision != nil {
		t.Errorf("policy frame: %+v", fr.Policy)
	}
}

// TestChanged_DuringPolicyChange checks that Changed does not wait for a policy change, because its
// caller may hold a lock that the policy change waits for.
func TestChanged_DuringPolicyChange(t *testing.T) {
	d := dash(t)
	reads := 0
	base := fixedConfig{d.guard.Policy(), func() { reads++; d.server.Changed(channelID) }}
	accept := func() error { d.server.Changed(channelID); return nil }
	if err := d.opts.Live.Policies.Reload(base, accept); err != nil || reads == 0 {
		t.Errorf("the configuration was read %d times, %v", reads, err)
	}
}
