package config

import (
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/webhook"
)

const webhooks = `
[[webhook]]
name = "team"
url = "https://discord.com/api/webhooks/1/geheim"
format = "discord"
channels = ["#SomeChannel", "room 7"]

[[webhook]]
name = "own-server"
format = "signed"
events = ["ban"]
allow_private = true
`

func TestParse_Webhooks(t *testing.T) {
	env := variables{
		"CHATGUARD_WEBHOOK_OWN_SERVER_URL":    " http://10.0.0.7/hook\n",
		"CHATGUARD_WEBHOOK_OWN_SERVER_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
	}
	got := mustParse(t, "c.toml", webhooks, env).Webhooks
	want := []Webhook{
		{Name: "team", URL: "https://discord.com/api/webhooks/1/geheim", Format: webhook.Discord, Events: webhook.Kinds, Channels: []string{"somechannel", "room 7"}},
		{Name: "own-server", URL: "http://10.0.0.7/hook", Format: webhook.Signed, Events: []webhook.Kind{webhook.Ban}, AllowPrivate: true, Secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
	}
	assertEqual(t, "webhooks", got, want)
	c := mustParse(t, "c.toml", webhooks, env)
	if err := c.CheckWebhooks(); err != nil {
		t.Error(err)
	}
	h := got[1].Hook()
	if err := h.Check(); err != nil || h.ID != "config:own-server" || !h.IsConfigured {
		t.Errorf("%+v, %v", h, err)
	}
	before := mustParse(t, "c.toml", "", nil)
	after := mustParse(t, "c.toml", webhooks, env)
	if got := Differences(before, after); len(got) != 1 || got[0] != "webhook" {
		t.Errorf("%q", got)
	}
}

// A command that sends nothing needs neither addresses nor secrets.
func TestCheckWebhooks(t *testing.T) {
	for want, env := range map[string]variables{
		`c.toml:8: webhook "own-server": url: is missing: set it here, or by the environment variable CHATGUARD_WEBHOOK_OWN_SERVER_URL`: {},
		`c.toml:8: webhook "own-server": secret: is missing: set the environment variable CHATGUARD_WEBHOOK_OWN_SERVER_SECRET to "whsec_" and the output of openssl rand -base64 32`: {
			"CHATGUARD_WEBHOOK_OWN_SERVER_URL": "https://example.com/hook",
		},
	} {
		c := mustParse(t, "c.toml", webhooks, env)
		assertEqual(t, "error", problem(t, c.CheckWebhooks()), want)
	}
}

// Errors name the variable, and never the address or the secret.
func TestParse_WebhookVariables(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"CHATGUARD_WEBHOOK_TEAM_URL", "http://example.com/geheim", "the address begins with http, so that others could read along: use https"},
		{"CHATGUARD_WEBHOOK_TEAM_URL", "geheim", "the address is not a URL: want https://…"},
		{"CHATGUARD_WEBHOOK_TEAM_SECRET", "geheim", "Discord checks no signature: remove it"},
		{"CHATGUARD_WEBHOOK_OWN_SERVER_SECRET", "whsec_geheim", "it is not a secret of a webhook: want whsec_ and random bytes in base64 (openssl rand -base64 32)"},
	} {
		env := variables{
			"CHATGUARD_WEBHOOK_OWN_SERVER_URL":    "https://example.com/hook",
			"CHATGUARD_WEBHOOK_OWN_SERVER_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
		}
		env[c.name] = c.text
		_, err := Parse("c.toml", []byte(webhooks), env.lookup)
		assertEqual(t, "error", problem(t, err), c.name+": "+c.want)
		if strings.Contains(err.Error(), "geheim") {
			t.Error(err)
		}
	}
}
