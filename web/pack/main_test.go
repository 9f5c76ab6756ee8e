package main

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"testing"

	"github.com/chatguard/chatguard/web/static"
)

func TestPack_HasSameFiles(t *testing.T) {
	archive, err := pack(static.Files)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	err = fs.WalkDir(static.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		want, err := fs.ReadFile(static.Files, name)
		if err != nil {
			return err
		}
		got, err := fs.ReadFile(packed, name)
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs in the archive", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Errorf("only %d files", files)
	}
}
