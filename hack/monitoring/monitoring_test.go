package monitoring

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/nmstate/kubernetes-nmstate/e2e/install"
)

const (
	root      = "../.."
	component = root + "/deploy/components/monitoring/"
)

type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// rules are those of the PrometheusRule, and its spec, which is a file of rules.
func rules(t *testing.T) ([]rule, []byte) {
	t.Helper()
	var object struct {
		Spec json.RawMessage `json:"spec"`
	}
	var spec struct {
		Groups []struct {
			Rules []rule `json:"rules"`
		} `json:"groups"`
	}
	if err := yaml.Unmarshal(read(t, component+"rules.yaml"), &object); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(object.Spec, &spec); err != nil || len(spec.Groups) != 1 || len(spec.Groups[0].Rules) == 0 {
		t.Fatalf("no rules: %v", err)
	}
	return spec.Groups[0].Rules, object.Spec
}

// promtool is Prometheus' own.
func promtool(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), root+"/hack/promtool.sh").Output()
	if err != nil && os.Getenv("NMSTATE_STRICT") != "1" {
		t.Skip("skipped: no promtool: install that of Prometheus, or have apt-get reach its packages")
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestTheAlertsFireWhenTheyShouldAndNotOtherwise(t *testing.T) {
	program := promtool(t)
	folder := t.TempDir()
	all, spec := rules(t)
	if err := os.WriteFile(filepath.Join(folder, "rules.yaml"), spec, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := read(t, "testdata/cases.yaml")
	if err := os.WriteFile(filepath.Join(folder, "cases.yaml"), cases, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", "rules", "rules.yaml"}, {"test", "rules", "cases.yaml"}} {
		command := exec.CommandContext(t.Context(), program, args...)
		command.Dir = folder
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	// Each alert has a case in which it fires and one in which it does not.
	var tests struct {
		Tests []struct {
			Cases []struct {
				Alert string            `json:"alertname"`
				Fires []json.RawMessage `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		} `json:"tests"`
	}
	if err := yaml.Unmarshal(cases, &tests); err != nil {
		t.Fatal(err)
	}
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, test := range tests.Tests {
		for _, c := range test.Cases {
			fires[c.Alert] = fires[c.Alert] || len(c.Fires) > 0
			silent[c.Alert] = silent[c.Alert] || len(c.Fires) == 0
		}
	}
	for _, one := range all {
		if !fires[one.Alert] || !silent[one.Alert] {
			t.Errorf("%s: testdata/cases.yaml has a case in which it fires: %v, in which it does not: %v", one.Alert, fires[one.Alert], silent[one.Alert])
		}
	}
}

func TestEachAlertHasARunbook(t *testing.T) {
	page, metrics := string(read(t, root+"/docs/runbooks.md")), string(read(t, root+"/docs/metrics.md"))
	all, _ := rules(t)
	var names []string
	for _, one := range all {
		names = append(names, one.Alert)
		if !strings.Contains(page, "\n## "+one.Alert+"\n") || !strings.Contains(metrics, "| ["+one.Alert+"](") {
			t.Errorf("%s has no section in docs/runbooks.md, or no line in docs/metrics.md", one.Alert)
		}
		if url := one.Annotations["runbook_url"]; !strings.HasSuffix(url, "/docs/runbooks.md#"+strings.ToLower(one.Alert)) {
			t.Errorf("%s: runbook_url %s", one.Alert, url)
		}
		if !slices.Contains([]string{"warning", "critical"}, one.Labels["severity"]) {
			t.Errorf("%s: severity %q", one.Alert, one.Labels["severity"])
		}
	}
	for _, found := range regexp.MustCompile(`(?m)^## (\w+)$`).FindAllStringSubmatch(page, -1) {
		if !slices.Contains(names, found[1]) {
			t.Errorf("docs/runbooks.md has a section for an alert that there is not: %s", found[1])
		}
	}
}

// Words of PromQL that stand in our expressions, and are no metrics and no labels.
var words = []string{
	"and", "or", "by", "sum", "max", "count", "absent", "increase", "rate", "changes", "vector", "histogram_quantile",
}

var (
	quoted     = regexp.MustCompile(`"[^"]*"`)
	selectors  = regexp.MustCompile(`\{[^}]*\}|\[[^\]]*\]|by \([^)]*\)`)
	identifier = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)
	documented = regexp.MustCompile("(?m)^\\| `(kubernetes_nmstate_\\w+)\\{([^}]*)\\}`")
	label      = regexp.MustCompile(`(\w+)(?:=~?|!=)"`)
	grouped    = regexp.MustCompile(`by \(([^)]*)\)`)
)

func TestRulesAndDashboardNameOnlyMetricsThatExist(t *testing.T) {
	// docs compares this list with what the programs register.
	exists := map[string][]string{}
	for _, found := range documented.FindAllStringSubmatch(string(read(t, root+"/docs/metrics.md")), -1) {
		labels := strings.Split(found[2], ",")
		exists[found[1]] = labels
		if strings.HasSuffix(found[1], "_seconds") {
			exists[found[1]+"_bucket"], exists[found[1]+"_count"], exists[found[1]+"_sum"] = append(labels, "le"), labels, labels
		}
	}
	if len(exists) < 10 {
		t.Fatalf("docs/metrics.md lists %v", exists)
	}
	var expressions []string
	all, _ := rules(t)
	for _, one := range all {
		expressions = append(expressions, one.Expr)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(read(t, component+"dashboard.json"), &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, panel := range dashboard.Panels {
		if len(panel.Targets) == 0 {
			t.Errorf("panel %s shows nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			expressions = append(expressions, target.Expr)
		}
	}
	for _, expression := range expressions {
		for _, breach := range unknown(expression, exists) {
			t.Errorf("%s: %s", expression, breach)
		}
	}
	for expression, want := range map[string]string{
		`max(kubernetes_nmstate_policy_status) > 0`:                    "kubernetes_nmstate_policy_status is no metric",
		`up{job="x"} == 0`:                                             "up is no metric",
		`kubernetes_nmstate_drift_leaves{host="a"}`:                    "host is no label of kubernetes_nmstate_drift_leaves",
		`sum by (host) (rate(kubernetes_nmstate_retries_total[5m]))`:   "host is no label of kubernetes_nmstate_retries_total",
		`rate(kubernetes_nmstate_apply_duration_seconds_buckets[5m])`:  "kubernetes_nmstate_apply_duration_seconds_buckets is no metric",
		`increase(kubernetes_nmstate_transactions_total{result=~"a"})`: "",
	} {
		if got := strings.Join(unknown(expression, exists), "; "); got != want {
			t.Errorf("%s: want %q, got %q", expression, want, got)
		}
	}
}

// unknown are the metrics and labels of an expression that do not exist.
func unknown(expression string, exists map[string][]string) (breaches []string) {
	var named []string
	for _, word := range identifier.FindAllString(selectors.ReplaceAllString(quoted.ReplaceAllString(expression, `""`), " "), -1) {
		if slices.Contains(words, word) {
			continue
		}
		if named = append(named, word); exists[word] == nil {
			breaches = append(breaches, word+" is no metric")
		}
	}
	if len(breaches) > 0 {
		return breaches
	}
	var labels []string
	for _, found := range label.FindAllStringSubmatch(expression, -1) {
		labels = append(labels, found[1])
	}
	for _, found := range grouped.FindAllStringSubmatch(expression, -1) {
		labels = append(labels, strings.Split(strings.ReplaceAll(found[1], " ", ""), ",")...)
	}
	for _, one := range labels {
		if !slices.ContainsFunc(named, func(metric string) bool { return slices.Contains(exists[metric], one) }) {
			breaches = append(breaches, one+" is no label of "+strings.Join(named, ", "))
		}
	}
	return breaches
}

func TestTheComponentStandsAloneAndInAnInstallation(t *testing.T) {
	for folder, namespace := range map[string]string{component: "nmstate", "testdata/elsewhere": "net-system"} {
		objects, err := install.Build(folder)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, object := range objects {
			found[object.GetKind()+" "+object.GetName()] = object.GetNamespace()
		}
		for _, name := range []string{"ServiceMonitor nmstate", "PrometheusRule nmstate", "ConfigMap nmstate-dashboard"} {
			if found[name] != namespace {
				t.Errorf("%s: %s is in the namespace %q, want %q", folder, name, found[name], namespace)
			}
		}
	}
}
