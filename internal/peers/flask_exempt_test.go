package peers

import (
	"net/http"
	"slices"

	"github.com/chatguard/chatguard/httpguard"
)

// skipping passes requests for some paths on.
func skipping(paths ...string) httpguard.LimitOptions {
	return httpguard.LimitOptions{Skip: func(r *http.Request) bool { return slices.Contains(paths, r.URL.Path) }}
}

func flaskExempt(f *facts) {
	a := f.flask(flaskLimiter{limits: "1 minute", options: skipping("/static/image.png")})
	a.get("/", 200, 429)
	a.get("/static/image.png", 200, 200)

	a = f.flask(flaskLimiter{limits: "1 hour"})
	a.role = "friend"
	a.get("/t1", 200, 200)
	a.role = ""
	a.get("/t1", 200, 429)
	a.forward(3600)
	a.get("/t1", 200)

	a = f.flask(flaskLimiter{limits: "1 minute"})
	a.get("/", 200, 429)
	a.forward(60)
	a.get("/", 200)
	a.role = "friend"
	a.repeats(10, "/", 200)

	a = f.flask(flaskLimiter{limits: "app 2 minute", options: skipping("/t2", "/t3")}, flaskLimiter{limits: "1 minute", options: skipping("/t2")})
	a.get("/t1", 200, 429)
	a.get("/t2", 200, 200)
	a.get("/t3", 200, 429)
	a.get("/t4", 429)

	exempt := false
	options := httpguard.LimitOptions{Skip: func(r *http.Request) bool {
		return r.URL.Path == "/unlimited" || exempt && r.URL.Path == "/conditional"
	}}
	a = f.flask(flaskLimiter{limits: "1 day", options: options})
	a.get("/limited", 200, 429)
	a.get("/unlimited", 200, 200)
	a.get("/conditional", 200, 429)
	exempt = true
	a.get("/conditional", 200)
	exempt = false
	a.get("/conditional", 429)
	options.Channel = func(*http.Request) string { return "shared" }
	a = f.flask(flaskLimiter{limits: "1 day", options: options})
	a.get("/unlimited", 200, 200)
	a.get("/limited", 200, 429)
	a.get("/conditional", 429)
	exempt = true
	a.get("/conditional", 200)
	exempt = false
	a.get("/conditional", 429)
}

func flaskHeaders(f *facts) {
	retry := func(w http.Header, theirs string) {
		f.Helper()
		f.differs("Retry-After of a request that passes", w.Get("Retry-After"), theirs, "",
			"the peer tells clients to wait whose request has passed; the header is for refused ones, and chatguard is right")
	}
	second := "2 second, 5 minute, 10 hour"
	a := f.flask(flaskLimiter{limits: "app 60 minute, 10 minute", routes: map[string]string{"/t2": "app 60 minute, " + second}})
	w := a.ask("/t1")
	a.headers(w, "10", "9", 61)
	retry(w.Header(), "60")
	w = a.ask("/t2")
	a.headers(w, "2", "1", 2)
	retry(w.Header(), "1")
	a = f.flask(flaskLimiter{limits: "app 60 minute", routes: map[string]string{"/t2": "app 60 minute, " + second}})
	w = a.ask("/t1")
	a.headers(w, "60", "59", 61)
	retry(w.Header(), "60")
	w = a.ask("/t2")
	a.headers(w, "2", "1", 2)
	retry(w.Header(), "1")

	a = f.flask(flaskLimiter{limits: "2 second, 10 minute, 20 hour"})
	for range 10 {
		a.ask("/t1")
		a.forward(1)
	}
	w = a.ask("/t1")
	a.headers(w, "10", "0", 61)
	a.holds("Retry-After", w.Header().Get("Retry-After"), "50")

	a = f.flask(flaskLimiter{limits: "1 minute"})
	retry(a.ask("/t1").Header(), "60")
	a.forward(60)
	a.get("/t1", 200)
	for range 2 { // applications
		a = f.flask(flaskLimiter{limits: "1 minute"})
		a.get("/test", 200)
		w = a.ask("/test")
		a.holds("status", w.Code, 429)
		a.holds("Retry-After", w.Header().Get("Retry-After"), "60")
	}
}

func flaskSeveral(f *facts) {
	two := []flaskLimiter{{routes: map[string]string{"/test2": "10 minute"}}, {limits: "1 second"}}
	a := f.flask(two...)
	a.get("/test1", 200, 429)
	a.get("/test2", 200, 429)
	a.every("200 in each second", 8, func(int) bool {
		a.forward(1)
		return a.ask("/test1").Code == 200 && a.ask("/test2").Code == 200
	})
	a.forward(1)
	a.get("/test1", 200)
	a.get("/test2", 429)
	a.forward(59)
	a.get("/test2", 200)

	a = f.flask(two...)
	a.get("/test1", 200, 429)
	a.get("/test2", 200, 429)
	a.repeats(8, "/test1", 429)
	a.repeats(8, "/test2", 429)
	a.get("/test2", 429)
	a.forward(1)
	a.get("/test1", 200)
	a.get("/test2", 429)
	a.forward(59)
	a.get("/test1", 200)
	a.get("/test2", 200)

	a = f.flask(flaskLimiter{limits: "1 second"}, flaskLimiter{limits: "10 minute"})
	a.get("/test1", 200, 429)
	a.every("200 in each second", 9, func(int) bool {
		a.forward(1)
		return a.ask("/test1").Code == 200
	})
	a.forward(1)
	a.get("/test1", 429)
	a.forward(50)
	a.get("/test1", 200)

	a = f.flask(flaskLimiter{limits: "app 3 minute"}, flaskLimiter{routes: map[string]string{"/explicit": "1 minute"}})
	a.get("/explicit", 200, 429)
	a.get("/default", 200, 429)
	a.forward(60)
	a.get("/explicit", 200)
	a.get("/default", 200)
}

func flaskBreach(f *facts) {
	a := f.flask(flaskLimiter{limits: "1 second, 2 minute"})
	a.get("/", 200, 429)
	a.forward(1)
	a.get("/", 200)
	a.forward(1)
	a.get("/", 429)
	a = f.flask(flaskLimiter{limits: "1 second, 2 minute"})
	a.get("/", 200, 429)
	a.forward(1)
	a.differs("status if all limits count a refused request", a.ask("/").Code, 429, 200,
		"an option of the peer, which count_throttled is in chatguard; without it, a refused request spends nothing; either is right")
	f.lacks(3, "which of the limits were breached: a verdict names the one that refuses")
}
