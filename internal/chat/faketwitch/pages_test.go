package faketwitch

import (
	"strings"
	"testing"
)

// TestPage_Escapes checks that a page shows every text as text.
func TestPage_Escapes(t *testing.T) {
	const text, escaped = `<b>"x" & 'y'</b> %s`, `&lt;b&gt;&#34;x&#34; &amp; &#39;y&#39;&lt;/b&gt; %s`
	got := pageContent{
		Title: text, Says: []string{text}, Code: text,
		Field: &pageField{Label: text, Name: text, Value: text}, Buttons: []string{text},
	}.render()
	if n := strings.Count(got, escaped); n != 10 || strings.Contains(got, "<b>") {
		t.Errorf("%d escaped texts, want 10:\n%s", n, got)
	}
}
