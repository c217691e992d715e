package host

import (
	"maps"
	"path"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

// scripts are the files of NetworkManager's dispatcher. The model runs none of them: what
// a script does is nobody's to know. Every node's installation allows them.
func (h *Host) scripts() profiles.Files {
	found := profiles.Files{}
	for at, file := range h.files.disk {
		if isScript(at) {
			found[at] = file
		}
	}
	return found
}

func isScript(at string) bool { return path.Dir(at) == profiles.ScriptsDir }

// divided are NetworkManager's files, and the scripts apart.
func (h *Host) divided() (files, scripts profiles.Files) {
	files = h.Files()
	maps.DeleteFunc(files, func(at string, _ profiles.File) bool { return isScript(at) })
	return files, h.scripts()
}

// seeScript tells the watcher that a script has changed, as the folder's watch does.
func (h *Host) seeScript(at string) {
	if isScript(at) {
		h.changed()
	}
}

// scriptLines are the scripts as a picture has them.
func (h *Host) scriptLines() []string {
	var lines []string
	for name, scripts := range h.scripts().Texts() {
		for when, text := range scripts {
			lines = append(lines, strings.Join(strings.Fields("script "+name+" "+string(when)+" "+text), " "))
		}
	}
	return lines
}
