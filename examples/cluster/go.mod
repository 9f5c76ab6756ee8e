module github.com/chatguard/chatguard/examples/cluster

go 1.26.0

replace github.com/chatguard/chatguard => ../..

require (
	github.com/chatguard/chatguard v0.0.0
	github.com/chromedp/chromedp v0.23.0
	go.uber.org/goleak v1.3.0
)

require (
	github.com/chromedp/cdproto v0.159.3 // indirect
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/redis/rueidis v1.0.79 // indirect
	golang.org/x/sys v0.50.0 // indirect
)
