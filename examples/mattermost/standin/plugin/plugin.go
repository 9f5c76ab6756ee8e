// Package plugin stands in for Mattermost's package of that name, in tests. As there, a plugin is a
// process, and its hooks are called over net/rpc.
package plugin

import (
	"fmt"
	"log"
	"net"
	"net/rpc"

	"github.com/mattermost/mattermost/server/public/model"
)

// Context describes the request that a hook belongs to.
type Context struct{ RequestId string }

// API is how a plugin calls the server.
type API interface {
	LogError(text string, keyValuePairs ...any)
}

// MattermostPlugin is embedded by each plugin.
type MattermostPlugin struct{ API API }

// SetAPI is called before the first hook.
func (p *MattermostPlugin) SetAPI(api API) { p.API = api }

type logger struct{}

func (logger) LogError(text string, keyValuePairs ...any) { log.Println(text, keyValuePairs) }

// Hooks are the hooks that the stand-in calls.
type Hooks interface {
	SetAPI(API)
	OnActivate() error
	MessageWillBePosted(*Context, *model.Post) (*model.Post, string)
}

// Answer is what MessageWillBePosted returns.
type Answer struct {
	Post   *model.Post
	Reason string // why the post is rejected
}

type server struct{ hooks Hooks }

// MessageWillBePosted calls the hook.
func (s server) MessageWillBePosted(post *model.Post, answer *Answer) error {
	answer.Post, answer.Reason = s.hooks.MessageWillBePosted(&Context{}, post)
	return nil
}

// ClientMain runs the plugin. It prints a loopback address, accepts one connection, and returns
// when that is closed.
func ClientMain(hooks Hooks) {
	hooks.SetAPI(logger{})
	if err := hooks.OnActivate(); err != nil {
		log.Fatal(err)
	}
	calls := rpc.NewServer()
	if err := calls.RegisterName("Plugin", server{hooks}); err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr())
	conn, err := listener.Accept()
	if err != nil {
		log.Fatal(err)
	}
	calls.ServeConn(conn)
}
