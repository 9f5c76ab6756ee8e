package helix

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var must = twitchtest.Must
