package access

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/chatguard/chatguard/internal/auth"
)

var anna = auth.Viewer{ID: "42", Login: "anna", DisplayName: "Änna 😀"}

// viewerCookieOf returns the cookie with which a viewer is signed in.
func viewerCookieOf(t testing.TB, s *ViewerSessions, r *http.Request, v auth.Viewer) *http.Cookie {
	t.Helper()
	w := httptest.NewRecorder()
	s.Begin(w, r, v)
	cookies := w.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("cookies %v", cookies)
	}
	return cookies[0]
}

func TestViewerSessions_Cookie(t *testing.T) {
	public, _ := url.Parse("https://chat.example.org/guard/")
	now := time.Now()
	s := NewViewerSessions(Site{PublicURL: public}, func() time.Time { return now })
	r := httptest.NewRequest("GET", "https://chat.example.org/signin/twitch/callback", nil)
	c := viewerCookieOf(t, s, r, anna)
	if c.Name != "chatguard_viewer" || !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || c.Path != "/guard" || c.MaxAge != 12*60*60 {
		t.Errorf("cookie %+v", c)
	}
	r.AddCookie(c)
	if v, ok := s.Holder(r); !ok || v != anna {
		t.Errorf("%+v, %v", v, ok)
	}
	now = now.Add(ViewerTime - time.Second)
	if _, ok := s.Holder(r); !ok {
		t.Error("ended too early")
	}
	now = now.Add(time.Second)
	if _, ok := s.Holder(r); ok {
		t.Error("never ends")
	}
	w := httptest.NewRecorder()
	if s.End(w, r); w.Result().Cookies()[0].MaxAge >= 0 {
		t.Errorf("signed out: %v", w.Result().Cookies())
	}
}

// Long names are shortened, because browsers ignore cookies of more than 4,096 bytes.
func TestViewerSessions_LongNames(t *testing.T) {
	s := NewViewerSessions(Site{}, time.Now)
	long := auth.Viewer{ID: "42", Login: strings.Repeat("x", 5000), DisplayName: strings.Repeat("\"\n😀", 5000)}
	value := s.seal(long)
	if v, ok := s.open(value); !ok || v.ID != "42" || len(v.DisplayName) > 200 || len(value) > 3000 {
		t.Errorf("%d bytes, %+v", len(value), v)
	}
}

// Whatever differs from a signed cookie is refused: a changed one, another process's, a session of
// the dashboard.
func TestViewerSessions_Forged(t *testing.T) {
	s, other := NewViewerSessions(Site{}, time.Now), NewViewerSessions(Site{}, time.Now)
	genuine := s.seal(anna)
	text, signature, _ := strings.Cut(genuine, ".")
	for _, value := range []string{"", ".", text, text + ".", "." + signature, text + "." + text, other.seal(anna), genuine + "A", signature + "." + text} {
		if v, ok := s.open(value); ok {
			t.Errorf("%q is accepted: %+v", value, v)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		at, by := rapid.IntRange(0, len(genuine)-1).Draw(t, "at"), rapid.ByteRange(33, 126).Draw(t, "by")
		changed := genuine[:at] + string(by) + genuine[at+1:]
		if _, ok := s.open(changed); ok && changed != genuine {
			t.Errorf("%q is accepted", changed)
		}
	})
}
