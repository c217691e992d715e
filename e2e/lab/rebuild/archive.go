package rebuild

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
)

// largest is the most that the states of an archive may have in all: thousands of nodes.
const largest = 1 << 30

// isArchive tells an archive of kubectl nmstate report from YAML and JSON.
func isArchive(raw []byte) bool { return bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) }

// states are the node states of an archive, one document after the other.
func states(raw []byte) ([]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("no archive: %w", err)
	}
	var all bytes.Buffer
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return all.Bytes(), nil
		}
		if err != nil {
			return nil, fmt.Errorf("no archive of kubectl nmstate report: %w", err)
		}
		if !strings.Contains("/"+header.Name, "/states/") || !strings.HasSuffix(header.Name, ".yaml") {
			continue
		}
		if header.Size > largest-int64(all.Len()) {
			return nil, fmt.Errorf("%s: the states of the archive are larger than %d MiB", header.Name, largest>>20)
		}
		all.WriteString("---\n")
		if _, err := io.CopyN(&all, files, header.Size); err != nil {
			return nil, fmt.Errorf("%s: %w", header.Name, err)
		}
	}
}
