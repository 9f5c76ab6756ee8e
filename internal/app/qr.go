package app

import (
	"fmt"
	"strings"

	"rsc.io/qr"

	"github.com/chatguard/chatguard/internal/web"
)

// quietZone is the light margin of a QR code, in modules, as the standard asks for.
const quietZone = 4

// qrOf returns the QR code of a text, or nil if the text is too long for one.
func qrOf(text string) *web.QR {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return nil
	}
	var path strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for x < code.Size && code.Black(x, y) {
				x++
			}
			if x > from { // a run of dark modules is one rectangle
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", from+quietZone, y+quietZone, x-from, x-from)
			}
		}
	}
	return &web.QR{Size: code.Size + 2*quietZone, Path: path.String()}
}
