package app

import "fmt"

// Build says what a binary was built from. Fields are empty if the build didn't record them.
type Build struct {
	Version  string `json:"version"`  // the last tag, and what came after it
	Commit   string `json:"commit"`   // 40 hexadecimal digits
	Date     string `json:"date"`     // of the commit, in RFC 3339
	Go       string `json:"go"`       // the version of Go, such as go1.26.0
	Platform string `json:"platform"` // such as linux/amd64
}

// metric returns the name and the labels of the metric that describes the build.
func (b Build) metric() string {
	return fmt.Sprintf("chatguard_build_info{version=%q,revision=%q,goversion=%q}", b.Version, b.Commit, b.Go)
}
