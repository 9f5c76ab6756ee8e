//go:build deploy

package packaging

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// TestLaunchd checks that the agent for launchd is a well-formed property list that runs chatguard
// in the folder of its files. Only macOS has launchd.
func TestLaunchd(t *testing.T) {
	file, err := os.Open("launchd/com.github.chatguard.plist")
	must(t, err)
	defer file.Close()
	var words []string
	for decoder := xml.NewDecoder(file); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		switch token := token.(type) {
		case xml.CharData:
			words = append(words, strings.Fields(string(token))...)
		case xml.StartElement:
			words = append(words, "<"+token.Name.Local+">")
		}
	}
	text := strings.Join(words, " ")
	for _, want := range []string{
		"<plist> <dict> <key> Label <string> com.github.chatguard <key>",
		"<key> ProgramArguments <array> <string> /Users/YOU/chatguard/chatguard <string> run <key>",
		"<key> WorkingDirectory <string> /Users/YOU/chatguard <key>",
		"<key> Umask <integer> 63 <key>",
		"<key> KeepAlive <dict> <key> SuccessfulExit <false>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}
