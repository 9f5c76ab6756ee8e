// Package model stands in for Mattermost's package of that name, in tests.
package model

import "strings"

// Post is a message.
type Post struct {
	UserId    string
	ChannelId string
	Message   string
	Type      string // of system messages: "system_join_channel" and the like
}

// IsSystemMessage reports whether Mattermost itself wrote the message.
func (p *Post) IsSystemMessage() bool { return strings.HasPrefix(p.Type, "system_") }
