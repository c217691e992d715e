package ui

import (
	"bytes"
	"fmt"
	"html/template"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

// reported is the page of a report.
type reported struct {
	Style    template.CSS
	Made     time.Time
	Versions map[string]string
	Missing  []string
	Policies []policy
	Nodes    []node
}

// Report is one page with all of the objects, which needs no cluster and no server.
func Report(objects view.Objects, versions map[string]string, missing []string, now time.Time) ([]byte, error) {
	style, err := files.ReadFile("page/style.css")
	if err != nil {
		return nil, fmt.Errorf("reading the style sheet: %w", err)
	}
	page := reported{Style: template.CSS(style), Made: now, Versions: versions, Missing: missing} //nolint:gosec // The program's own.
	for i := range objects.Policies {
		one := &objects.Policies[i]
		var own []v1.NodeNetworkConfigurationEnactment
		for j := range objects.Enactments {
			if objects.Enactments[j].Policy() == one.Name {
				own = append(own, objects.Enactments[j])
			}
		}
		shown := view.Of(one, objects, now)
		page.Policies = append(page.Policies, policy{Policy: shown, Lanes: lanesOf(shown, own, now), Failures: view.Failures(own)})
	}
	for i := range objects.States {
		nns := &objects.States[i]
		var own []v1.NodeNetworkConfigurationEnactment
		for j := range objects.Enactments {
			if objects.Enactments[j].Node() == nns.Name {
				own = append(own, objects.Enactments[j])
			}
		}
		n, err := nodeOf(nns, own, "")
		if err != nil {
			return nil, err
		}
		n.Tile = tileOf(nns)
		page.Nodes = append(page.Nodes, n)
	}
	pages, err := template.New("").Funcs(functions()).ParseFS(files, "page/*.html")
	if err != nil {
		return nil, fmt.Errorf("reading the page's templates: %w", err)
	}
	var text bytes.Buffer
	if err := pages.ExecuteTemplate(&text, "report.html", page); err != nil {
		return nil, fmt.Errorf("making the page: %w", err)
	}
	return text.Bytes(), nil
}
