package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/nmstate/kubernetes-nmstate/controllers/rollout"
	"github.com/nmstate/kubernetes-nmstate/handler/agent"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
)

// registry notes what is registered, as name{labels} | from | in the document.
type registry struct {
	prometheus.Registerer

	from string
	rows *[]string
}

var described = regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: {([^}]*)}`)

func (r registry) Register(c prometheus.Collector) error {
	descriptions := make(chan *prometheus.Desc, 10)
	c.Describe(descriptions)
	close(descriptions)
	for one := range descriptions {
		found := described.FindStringSubmatch(one.String())
		*r.rows = append(*r.rows, "`"+found[1]+"{"+found[2]+"}` | "+r.from)
	}
	return nil
}

func TestTheMetricsAreThoseOfTheDocument(t *testing.T) {
	var registered []string
	files, err := journal.NewFiles(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_, err = agent.New(agent.Options{
		Node: "n", Clock: deadline.On(clock.RealClock{}), Journal: files, Metrics: registry{from: "handler", rows: &registered},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range rollout.Metrics(t.Context(), nil, nil, "") {
		_ = registry{from: "controllers", rows: &registered}.Register(one) // It never fails.
	}
	var written []string
	for line := range strings.Lines(read(t, "metrics.md")) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| `kubernetes_nmstate_") {
			written = append(written, strings.TrimPrefix(cells[0], "| ")+" | "+cells[1])
		}
	}
	slices.Sort(registered)
	slices.Sort(written)
	if difference := cmp.Diff(registered, written); difference != "" {
		t.Errorf("metrics (-registered +in docs/metrics.md):\n%s", difference)
	}
}
