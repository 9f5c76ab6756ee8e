package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/host"
	"github.com/chatguard/chatguard/internal/node"
)

// Reload applies another configuration's policies and channels, and returns lines that say what
// changed. If it returns an error, nothing has changed.
func (a *App) Reload(cfg config.Config) ([]string, error) {
	if err := FitTransport(cfg, a.Config.Twitch.Transport); err != nil {
		// A change of transport needs a restart.
		return nil, err
	}
	restart := restartKeys(a.Config, cfg)
	cfg.Shared = a.Config.Shared // until the restart
	if err := cfg.Shared.CheckParts(cfg); err != nil {
		return nil, &config.Error{File: cfg.Path, Key: "shared.share", Problem: err.Error()}
	}
	if err := node.CheckPolicies(cfg); err != nil {
		return nil, err
	}
	warn(cfg, a.log)
	for _, id := range a.Web.Asked() {
		a.directory.learnRoom(cfg, id)
	}
	before, policies := a.directory.config(), a.reporter.Policies()
	forgetNames := a.directory.rename(a.Twitch.Status().Channels, cfg)
	err := a.Host.Policies.Reload(configured{cfg, a.directory}, func() error {
		a.directory.loaded.Store(&cfg) // before Twitch returns the IDs of new channels
		err := a.Twitch.SetChannels(cfg.Twitch.Channels)
		if err != nil {
			a.directory.loaded.Store(before)
		}
		return err
	})
	if err != nil {
		forgetNames()
		return nil, err
	}
	if err := a.Host.Controls.Settings.SetBase(host.SettingsOf(cfg)); err != nil {
		return nil, err
	}
	a.Webhooks.SetConfigured(hooksOf(cfg))
	if a.signIns != nil {
		a.signIns.owners.forget()
	}
	if level := a.options.Level; level != nil {
		level.Set(cfg.Log.LevelValue())
	}
	a.reporter.ReportReload(policies)
	a.log.Info("loaded the configuration", "file", cfg.Path, "channels", slices.Concat(cfg.Twitch.Channels, cfg.Check.Channels))
	if len(restart) > 0 {
		a.log.Warn("changed in the configuration, and needs a restart", "keys", strings.Join(restart, ", "))
	}
	return reloadReport(cfg.Path, config.Differences(*before, cfg), restart, a.directory.liveChanges()), nil
}

// reloadReport returns lines that say what a reload did. changed are the keys that the reload
// applied, restart are the keys that need a restart, and live are the keys that keep their live
// changes.
func reloadReport(path string, changed, restart, live []string) []string {
	now := slices.DeleteFunc(changed, needsRestart)
	lines := []string{fmt.Sprintf("loaded %s: changed %s", path, strings.Join(now, ", "))}
	if len(now) == 0 {
		lines[0] = fmt.Sprintf("loaded %s: no change applies without a restart", path)
	}
	if len(now) == 0 && len(restart) == 0 {
		lines[0] = fmt.Sprintf("loaded %s: nothing has changed", path)
	}
	if len(restart) > 0 {
		lines = append(lines, "Needs a restart: "+strings.Join(restart, ", "))
	}
	return append(lines, live...)
}

// restartKeys returns the keys in which two configurations differ and which a reload doesn't apply.
func restartKeys(before, after config.Config) []string {
	return slices.DeleteFunc(config.Differences(before, after), func(key string) bool { return !needsRestart(key) })
}

// needsRestart reports whether a change of a key takes effect only after a restart.
func needsRestart(key string) bool {
	return !slices.ContainsFunc([]string{"timezone", "policy", "limit", "penalties", "channel", "twitch.channels", "check.channels", "raid", "notices", "webhook", "web.owners", "log.level"}, func(part string) bool {
		return key == part || strings.HasPrefix(key, part+".")
	})
}
