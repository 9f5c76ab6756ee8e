package host

import (
	"time"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/control"
)

// SettingsOf returns the settings of a configuration that people can change while chatguard runs.
func SettingsOf(c config.Config) control.Settings {
	r := c.Raid
	return control.Settings{
		Raid: control.Raid{
			Lasts: control.Duration(r.Lasts), StartRate: r.StartRate, Burst: r.Burst, Refill: control.Duration(r.Refill),
			FirstTimerBurst: r.FirstTimerBurst, FirstTimerRefill: control.Duration(r.FirstTimerRefill),
		},
		Notices:    control.Notices{Text: c.Notices.Text, Cooldown: control.Duration(c.Notices.Cooldown), Language: c.Notices.Language},
		Timeouts:   control.UsualTimeouts,
		Moderators: c.Web.ModeratorRole,
	}
}

// acceptable returns an error for settings that a configuration could not have.
func acceptable(s control.Settings) error {
	if err := s.Timeouts.Check(); err != nil {
		return err
	}
	r := s.Raid
	return config.CheckSettings(config.Raid{
		Lasts: time.Duration(r.Lasts), StartRate: r.StartRate, Burst: r.Burst, Refill: time.Duration(r.Refill),
		FirstTimerBurst: r.FirstTimerBurst, FirstTimerRefill: time.Duration(r.FirstTimerRefill),
	}, config.Notices{Text: s.Notices.Text, Cooldown: time.Duration(s.Notices.Cooldown), Language: s.Notices.Language}, s.Moderators)
}
