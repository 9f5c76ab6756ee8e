// Command mattermost is a Mattermost plugin that limits how many messages a user posts in each
// channel. Mattermost shows the author of a throttled message how long to wait.
//
// Its tests run without Mattermost. The folder standin has the few types that the plugin uses, and
// the replace line in go.mod selects it. To build the plugin, use Mattermost's own module:
//
//	go mod edit -dropreplace github.com/mattermost/mattermost/server/public
//	go get github.com/mattermost/mattermost/server/public
//
// In a cluster, each node runs the plugin and counts the messages that are posted through it.
package main

import (
	"context"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin"

	"github.com/chatguard/chatguard"
)

// Plugin judges each new post.
type Plugin struct {
	plugin.MattermostPlugin
	guard *chatguard.Guard
}

// OnActivate is called when the plugin starts.
func (p *Plugin) OnActivate() (err error) {
	p.guard, err = chatguard.New(chatguard.DefaultPolicy(), nil)
	return err
}

// MessageWillBePosted rejects a throttled post with a text for its author.
func (p *Plugin) MessageWillBePosted(_ *plugin.Context, post *model.Post) (*model.Post, string) {
	if post.IsSystemMessage() {
		return nil, "" // "eve has joined the channel": allowed, and not counted
	}
	verdict, err := p.guard.Check(context.Background(), chatguard.Message{
		ChannelID: post.ChannelId,
		User:      chatguard.User{ID: post.UserId},
		Text:      post.Message,
	})
	switch {
	case err != nil:
		p.API.LogError("The post wasn't judged.", "error", err.Error())
	case verdict.Never:
		return nil, "This message can't be posted here."
	case !verdict.Allowed:
		return nil, "You can post again in " + chatguard.FormatWait(verdict.RetryAfter) + "."
	}
	return nil, ""
}

func main() { plugin.ClientMain(&Plugin{}) }
