package twitchsignin

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/language"
)

// failure says why a sign-in has failed. People see it as a page.
type failure struct {
	status int
	result result
	title  language.Sentence
	text   language.Sentence // with the args
	args   []any
	final  bool          // trying again doesn't help
	other  bool          // another account may help
	wait   time.Duration // until a further attempt can succeed; 0 if that isn't known
	cause  error         // for the log; nil if there is no more to say
}

// Error describes the failure for the log.
func (f *failure) Error() string {
	if f.cause == nil {
		return string(f.title)
	}
	return string(f.title) + ": " + f.cause.Error()
}

// because returns the failure with its cause.
func (f failure) because(cause error) *failure {
	f.cause = cause
	return &f
}

// The failures, except noModerator.
var (
	notOffered = failure{
		status: http.StatusNotFound, result: refused, final: true, title: language.Sentence("Signing in with Twitch is off"),
		text: language.Sentence("It is not switched on here, or its setup is not complete. `chatguard doctor` says what is missing."),
	}
	tooMany = failure{
		status: http.StatusTooManyRequests, result: limited, title: language.Sentence("Too many sign-ins"),
		text: language.Sentence("Too many sign-ins have begun at your address. Wait a moment, then try again."),
	}
	malformed = failure{
		status: http.StatusBadRequest, result: refused, title: language.Sentence("The sign-in can't be completed"),
		text: language.Sentence("The address that Twitch sent you to is incomplete or was changed. Sign in again."),
	}
	foreign = failure{
		status: http.StatusBadRequest, result: refused, title: language.Sentence("The sign-in can't be completed"),
		text: language.Sentence("It was begun in another browser, was completed already, or is too old. Sign in again."),
	}
	late = failure{
		status: http.StatusBadRequest, result: refused, title: language.Sentence("The sign-in took too long"),
		text: language.Sentence("A sign-in must be completed within 10 minutes. Sign in again."),
	}
	userDenied = failure{
		status: http.StatusForbidden, result: denied, other: true, title: language.Sentence("You have not authorized chatguard"),
		text: language.Sentence("Without your authorization on Twitch, chatguard can't know who you are."),
	}
	usedCode = failure{
		status: http.StatusBadRequest, result: refused, title: language.Sentence("The sign-in can't be completed"),
		text: language.Sentence("Twitch does not accept it: it was completed already, or is too old. Sign in again."),
	}
	stolenCode = failure{
		status: http.StatusBadRequest, result: refused, title: language.Sentence("The sign-in can't be completed"),
		text: language.Sentence("It belongs to another sign-in than the one that you began. Sign in again."),
	}
	badSetup = failure{
		status: http.StatusBadGateway, result: failed, final: true, title: language.Sentence("Twitch refuses this chatguard"),
		text: language.Sentence("Its client ID, its client secret or its address is not as registered with Twitch. Its owner finds the reason in chatguard's log."),
	}
	noAnswer = failure{
		status: http.StatusBadGateway, result: failed, wait: time.Minute, title: language.Sentence("Twitch does not answer"),
		text: language.Sentence("Nothing is lost. Try again in a minute."),
	}
	nonsense = failure{
		status: http.StatusBadGateway, result: failed, wait: time.Minute, title: language.Sentence("Twitch gave an unexpected answer"),
		text: language.Sentence("Nothing is lost. Try again in a minute. The details are in chatguard's log."),
	}
	busy = failure{
		status: http.StatusServiceUnavailable, result: limited, wait: 5 * time.Second, title: language.Sentence("Too many sign-ins at once"),
		text: language.Sentence("Wait a moment, then try again."),
	}
	tooEarly = failure{
		status: http.StatusServiceUnavailable, result: failed, wait: 5 * time.Second, title: language.Sentence("chatguard is still starting"),
		text: language.Sentence("It does not know its channels yet. Try again in a few seconds."),
	}
)

// noModerator returns the failure of a person who is neither owner nor broadcaster nor moderator.
// Its text names no channels, because anybody can see the text.
func noModerator(login string) *failure {
	return &failure{
		status: http.StatusForbidden, result: notModerator, other: true, title: language.Sentence("No access with this account"),
		text: language.Sentence("On Twitch, you are signed in as %s. Only the owners of this chatguard, and the broadcasters and moderators of its channels, may use this dashboard."),
		args: []any{login},
	}
}

// pageStart is the start of a page. Its arguments are the relative path to the dashboard, the title
// and the language. It needs no script.
const pageStart = `<!doctype html>
<html lang="%[3]s">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%[2]s · chatguard</title>
<link rel="icon" href="%[1]sfavicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="%[1]sapp.css">
<link rel="stylesheet" href="%[1]sstyle/shell.css">
<link rel="stylesheet" href="%[1]sstyle/start.css">
</head>
<body>
<main class="sign-in">
<img src="%[1]sfavicon.svg" alt="" width="40" height="40">
<h1 class="title">%[2]s</h1>
`

// show answers a request with the page of a failure. up is the relative path to the dashboard.
func (s *SignIns) show(w http.ResponseWriter, r *http.Request, f *failure, what purpose, up string) {
	tag := language.Of(r)
	say := func(sentence language.Sentence, args ...any) string {
		return html.EscapeString(language.Sprintf(tag, string(sentence), args...))
	}
	var b strings.Builder
	fmt.Fprintf(&b, pageStart, up, say(f.title), tag)
	fmt.Fprintf(&b, "<p role=\"alert\">%s</p>\n<p class=\"with-twitch buttons\">", say(f.text, f.args...))
	if !f.final {
		label := language.Sentence("Try again")
		if f.other {
			label = language.Sentence("Use another account")
		}
		fmt.Fprintf(&b, `<a class="button primary" id="again" href="%s">%s</a> `, html.EscapeString(up+beginAgain(what, f.other)), say(label))
	}
	back := up
	if what == asViewer {
		back += s.viewers.page
	}
	fmt.Fprintf(&b, "<a class=\"button\" id=\"back\" href=\"%s\">%s</a></p>\n</main>\n</body>\n</html>\n", html.EscapeString(back), say(language.Sentence("Back")))
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	if f.wait > 0 {
		header.Set("Retry-After", strconv.Itoa(int((f.wait+time.Second-1)/time.Second)))
	}
	w.WriteHeader(f.status)
	w.Write([]byte(b.String())) // an error means that the client is gone
}

// beginAgain returns the address that begins a sign-in again, relative to the dashboard. If other
// is true, Twitch lets the person choose another account.
func beginAgain(what purpose, other bool) string {
	query := url.Values{}
	if what == asViewer {
		query.Set("for", string(asViewer))
	}
	if other {
		query.Set("account", "other")
	}
	if len(query) == 0 {
		return Begin
	}
	return Begin + "?" + query.Encode()
}
