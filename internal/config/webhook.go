package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/webhook"
)

// Webhook configures where events are sent, and which. See package webhook.
type Webhook struct {
	// Name is unique. It has letters, digits, _, . and -.
	Name string `toml:"name"`
	// URL is a secret. The environment variable CHATGUARD_WEBHOOK_NAME_URL overrides it. It is
	// empty if neither the file nor that variable sets it; see CheckWebhooks.
	URL    webhook.Address `toml:"url"`
	Format webhook.Format  `toml:"format"`
	Events []webhook.Kind  `toml:"events"` // the default is all
	// Channels are logins as ChannelName returns them, or rooms. Empty means all channels.
	Channels []string `toml:"channels"`
	// AllowPrivate allows a URL in a private network, and http.
	AllowPrivate bool `toml:"allow_private"`
	// Secret signs the requests. It is set only for the format signed; see CheckWebhooks.
	Secret Secret `toml:"secret"`
}

// maxWebhooks is the maximum number of webhooks of a configuration.
const maxWebhooks = 100

// Hook returns the webhook in the form that package webhook uses.
func (w Webhook) Hook() webhook.Hook {
	return webhook.Hook{
		ID: webhook.ConfiguredID(w.Name), Name: w.Name, Address: w.URL, Format: w.Format, Secret: webhook.Secret(w.Secret),
		Events: w.Events, Channels: w.Channels, AllowPrivate: w.AllowPrivate, IsConfigured: true,
	}
}

// readWebhooks completes and checks the webhooks of the file. It takes their addresses and secrets
// from the environment.
func (r *reader) readWebhooks(hooks []Webhook, env func(string) (string, bool)) error {
	if len(hooks) > maxWebhooks {
		return r.fail(place{"webhook"}, "has %d webhooks, and at most %d are allowed", len(hooks), maxWebhooks)
	}
	taken := map[string]string{} // names of webhooks, by their variablePart
	for i := range hooks {
		w, at := &hooks[i], place{"webhook", i}
		if err := checkWebhookName(w.Name, taken); err != nil {
			return r.fail(at.child("name"), "%v", err)
		}
		taken[variablePart(w.Name)] = w.Name
		url, secret := overrideText(&w.URL, w.variable("url"), env), overrideText(&w.Secret, w.variable("secret"), env)
		if len(w.Events) == 0 && !at.child("events").isIn(r.tree) {
			w.Events = slices.Clone(webhook.Kinds)
		}
		for j, name := range w.Channels {
			w.Channels[j] = channelKey(name)
		}
		key, err := w.check()
		switch {
		case err == nil:
		case key == "url" && url, key == "secret" && secret:
			return &Error{Key: w.variable(key), Problem: err.Error()}
		default:
			return r.fail(at.child(key), "%v", err)
		}
	}
	return nil
}

// overrideText sets a text to the value of an environment variable, and reports whether it is set.
func overrideText[T ~string](text *T, name string, env func(string) (string, bool)) bool {
	if env == nil {
		return false
	}
	value, ok := env(name)
	if ok {
		*text = T(strings.TrimSpace(value))
	}
	return ok
}

// check returns an error, and the key that it is about, for a value that can't work.
func (w *Webhook) check() (key string, err error) {
	switch {
	case !slices.Contains(webhook.Formats, w.Format):
		return "format", fmt.Errorf(`%q is not a format: want "discord" or "signed"`, string(w.Format))
	case len(w.Events) == 0:
		return "events", errors.New("is empty: name at least one event, or leave it out for all")
	case w.Format == webhook.Discord && w.Secret != "":
		return "secret", errors.New("Discord checks no signature: remove it")
	}
	if err := webhook.CheckAddress(w.URL, w.AllowPrivate); w.URL != "" && err != nil {
		return "url", err
	}
	if err := webhook.CheckKinds(w.Events); err != nil {
		return "events", err
	}
	if w.Secret != "" {
		if err := webhook.CheckSecret(webhook.Secret(w.Secret)); err != nil {
			return "secret", err
		}
	}
	return "channels", webhook.CheckChannels(w.Channels)
}

// CheckWebhooks returns an error if a webhook lacks its address or its secret. Only a process that
// sends events needs both. Other commands may run without these environment variables.
func (c *Config) CheckWebhooks() error {
	for i, w := range c.Webhooks {
		switch at := (place{"webhook", i}); {
		case w.URL == "":
			return c.source.fail(at.child("url"), "is missing: set it here, or by the environment variable %s", w.variable("url"))
		case w.Format == webhook.Signed && w.Secret == "":
			return c.source.fail(at.child("secret"), `is missing: set the environment variable %s to "whsec_" and the output of openssl rand -base64 32`, w.variable("secret"))
		}
	}
	return nil
}

// checkWebhookName returns an error for a name that can't be part of a variable's name, or whose
// variables would be those of another webhook. taken contains the names of the webhooks above it,
// by variablePart.
func checkWebhookName(name string, taken map[string]string) error {
	other, isTaken := taken[variablePart(name)]
	switch {
	case name == "" || len(name) > 50 || !isPlainName(name):
		return fmt.Errorf("%q is not a webhook's name (want 1 to 50 letters, digits, _, . and -)", name)
	case other == name:
		return fmt.Errorf("%q is listed twice", name)
	case isTaken:
		return fmt.Errorf("%q has the same environment variables as %q: choose another name", name, other)
	}
	return nil
}

// variable returns the name of the environment variable for a key of the webhook.
func (w *Webhook) variable(key string) string {
	return variable(place{"webhook", variablePart(w.Name), key})
}

// variablePart returns the form that a webhook's name has in the names of variables.
func variablePart(name string) string {
	return strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(name))
}
