package checkclient

import (
	"bytes"
	"encoding/json"
	"sync"
)

// maxWarned is for how many names the Client warns.
const maxWarned = 100

// unknownNames are the roles, kinds and zones for which the Client has warned.
type unknownNames struct {
	mu     sync.Mutex
	warned map[string]bool
}

// warnUnknown logs each role, kind and zone in a message that chatguard doesn't know, once.
func (c *Client) warnUnknown(answer []byte) {
	if !bytes.Contains(answer, []byte(`"unknown_`)) {
		return
	}
	var in struct {
		Channel  string   `json:"channel"`
		Roles    []string `json:"unknown_roles"`
		Kinds    []string `json:"unknown_kinds"`
		Timezone string   `json:"unknown_timezone"`
	}
	if json.Unmarshal(answer, &in) != nil {
		return
	}
	for _, name := range in.Roles {
		if c.unknown.add("role " + name) {
			c.opts.Logger.Warn("the channel's policy doesn't name a user's role, so the role has no effect", "role", name, "channel", in.Channel)
		}
	}
	for _, name := range in.Kinds {
		if c.unknown.add("kind " + name) {
			c.opts.Logger.Warn("chatguard doesn't know a kind of message, so the kind has no effect", "kind", name, "channel", in.Channel)
		}
	}
	if in.Timezone != "" && c.unknown.add("zone "+in.Timezone) {
		c.opts.Logger.Warn("chatguard doesn't know a user's zone, so that of the limits applies (want an IANA name such as Europe/Berlin)", "timezone", in.Timezone)
	}
}

// add reports whether to warn of a name.
func (u *unknownNames) add(name string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.warned[name] || len(u.warned) >= maxWarned {
		return false
	}
	if u.warned == nil {
		u.warned = map[string]bool{}
	}
	u.warned[name] = true
	return true
}
