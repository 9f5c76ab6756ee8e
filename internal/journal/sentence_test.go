package journal

import (
	"fmt"
	"testing"

	"github.com/chatguard/chatguard"
)

func TestSentence(t *testing.T) {
	err := fmt.Errorf("lobby: %w", (chatguard.Policy{Timezone: "Mars"}).Validate())
	if got, want := Sentence(err), `lobby: unknown timezone "Mars" (want an IANA name such as Europe/Berlin)`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
