//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestALogIsFollowedUntilItsLabIsTakenDown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "handler.log")
	write := func(text string) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	log, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	read, printed := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- follow(t.Context(), printed, log)
		_ = printed.Close()
	}()
	lines := bufio.NewScanner(read)
	for i := range 5 { // In each of them it has mostly come to the end of the log before.
		want := fmt.Sprint("line ", i)
		write(want + "\n")
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("printed %q, want %q", lines.Text(), want)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
