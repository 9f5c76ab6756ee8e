package doctor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/chat/twitch"
)

// The fix of an error of Twitch is that of its kind, whatever else the error says.
func TestProblemFrom_Twitch(t *testing.T) {
	t.Parallel()
	for _, kind := range []error{twitch.ErrToken, twitch.ErrScope, twitch.ErrUnavailable, twitch.ErrBusy, twitch.ErrLimited} {
		what, fix, _ := strings.Cut(kind.Error(), "; ")
		want := Finding{Problem, "look users up: " + what + " (Twitch: status 400: odd)", fix}
		if got := problemFrom(fmt.Errorf("look users up: %w (Twitch: status 400: odd)", kind)); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
