// A chat server that requires what servers usually require, at versions of a year ago. It has in
// common with chatguard's command, but not with its library: SQLite, the lock of a file, and what
// these and golang.org/x need. TestImporter_Versions measures what importing chatguard raises.
module example.org/chat

go 1.25.0

require (
	github.com/go-sql-driver/mysql v1.9.3
	github.com/gofrs/flock v0.8.1
	github.com/golang-jwt/jwt/v5 v5.3.0
	github.com/gorilla/websocket v1.5.3
	github.com/redis/go-redis/v9 v9.14.0
	github.com/tidwall/buntdb v1.3.2
	golang.org/x/crypto v0.46.0
	golang.org/x/term v0.38.0
	golang.org/x/text v0.32.0
	gopkg.in/yaml.v2 v2.4.0
	modernc.org/sqlite v1.54.0
)

require (
	filippo.io/edwards25519 v1.1.0 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	github.com/ncruces/go-strftime v1.0.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/rogpeppe/go-internal v1.14.1 // indirect
	github.com/tidwall/btree v1.4.2 // indirect
	golang.org/x/sync v0.19.0 // indirect
	golang.org/x/sys v0.39.0 // indirect
	modernc.org/libc v1.67.6 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.11.0 // indirect
)
