package faketwitch

import "testing"

func TestMessageKind_Emotes(t *testing.T) {
	const text = "あああ Kappa"
	emotes := messageKinds["emotes"]
	if got := emotes.emotes(text); got != "25:0-2,4-8" {
		t.Errorf("positions %q", got)
	}
	joined := ""
	for _, part := range emotes.fragments(text) {
		joined += part["type"].(string) + ":" + part["text"].(string) + ";"
	}
	if joined != "emote:あああ;text: ;emote:Kappa;" {
		t.Errorf("fragments %q", joined)
	}
	if got := messageKinds["bits"].emotes(text); got != "" {
		t.Errorf("a cheer has emotes at %q", got)
	}
}
