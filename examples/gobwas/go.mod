module github.com/chatguard/chatguard/examples/gobwas

go 1.26.0

replace github.com/chatguard/chatguard => ../..

require (
	github.com/chatguard/chatguard v0.0.0
	github.com/gobwas/ws v1.5.0
	go.uber.org/goleak v1.3.0
)

require github.com/gobwas/httphead v0.1.0 // indirect
