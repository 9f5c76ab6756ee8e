package main

import (
	"bufio"
	"net/rpc"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin"
)

// As the server does, the tests run the plugin in a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("RUN_PLUGIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// start runs the plugin, and returns a connection to it.
func start(t *testing.T) *rpc.Client {
	t.Helper()
	process := exec.CommandContext(t.Context(), os.Args[0])
	process.Env = append(os.Environ(), "RUN_PLUGIN=yes")
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	client, err := rpc.Dial("tcp", strings.TrimSpace(address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		_ = process.Wait() // the test's context may have ended it
	})
	return client
}

func TestMessageWillBePosted(t *testing.T) {
	mattermost := start(t)
	for i, c := range []struct {
		post   model.Post
		reason string
	}{
		{model.Post{UserId: "anna", ChannelId: "town-square"}, ""},
		{model.Post{UserId: "anna", ChannelId: "town-square"}, ""},
		{model.Post{UserId: "anna", ChannelId: "town-square"}, ""},
		{model.Post{UserId: "anna", ChannelId: "town-square"}, "You can post again in 4 s."},
		{model.Post{UserId: "anna", ChannelId: "town-square", Type: "system_leave_channel"}, ""},
		{model.Post{UserId: "anna", ChannelId: "off-topic"}, ""},
		{model.Post{UserId: "eve", ChannelId: "town-square"}, ""},
		{model.Post{ChannelId: "town-square"}, ""}, // can't be judged
	} {
		var answer plugin.Answer
		if err := mattermost.Call("Plugin.MessageWillBePosted", &c.post, &answer); err != nil {
			t.Fatal(err)
		}
		if answer.Post != nil || answer.Reason != c.reason {
			t.Errorf("post %d: %+v, want %q", i, answer, c.reason)
		}
	}
}
