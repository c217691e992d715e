package v1_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
)

// TestTheAPIServerKeepsTheContract asks a real API server what the schema, the
// rules in it and the older project's manifests come to.
func TestTheAPIServerKeepsTheContract(t *testing.T) {
	plane := controlplanetest.Start(t, os.Getenv, controlplane.Options{CRDs: "../../deploy/crds"})
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	api := controlplanetest.Client(t, plane, client.Options{Scheme: scheme})
	t.Run("refuses", func(t *testing.T) { refuses(t, api) })
	t.Run("reads", func(t *testing.T) { reads(t, api) })
	t.Run("serves", func(t *testing.T) { serves(t, api) })
	t.Run("takes backups", func(t *testing.T) { takesBackups(t, api) })
	t.Run("keeps null", func(t *testing.T) { keepsNull(t, api) })
	t.Run("describes", func(t *testing.T) { describes(t, api) })
	t.Run("warns", func(t *testing.T) { warns(t, plane) })
	t.Run("explains", func(t *testing.T) { explains(t, api) })
}

func policy(name, spec string) string {
	return "apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata: {name: " + name + "}\nspec: " + spec
}

// serves: manifests of each version apply, are one object, and what is in a
// desired state comes back to the letter.
func serves(t *testing.T, api client.Client) {
	for _, version := range []string{"v1", "v1beta1", "v1alpha1"} {
		manifest := strings.Replace(policy("from-"+version, `{nodeSelector: {a: b}, capture: {x: interfaces.name=="eth0"}, maxUnavailable: 3, desiredState: {interfaces: [{name: eth1, mtu: 1400, unknown-to-us: {a: [1, null]}}]}}`), "nmstate.io/v1", "nmstate.io/"+version, 1)
		if err := api.Create(t.Context(), object(t, manifest), client.FieldValidation("Strict")); err != nil {
			t.Errorf("%s: %v", version, err)
			continue
		}
		var got v1.NodeNetworkConfigurationPolicy
		if err := api.Get(t.Context(), client.ObjectKey{Name: "from-" + version}, &got); err != nil {
			t.Fatal(err)
		}
		const want = `{"interfaces":[{"mtu":1400,"name":"eth1","unknown-to-us":{"a":[1,null]}}]}`
		if state := string(got.Spec.DesiredState.Raw); state != want {
			t.Errorf("%s: the desired state is %s, want %s", version, state, want)
		}
	}
	var got v1.NodeNetworkConfigurationPolicy
	if err := api.Create(t.Context(), object(t, policy("defaults", `{}`))); err != nil {
		t.Fatal(err)
	}
	if err := api.Get(t.Context(), client.ObjectKey{Name: "defaults"}, &got); err != nil {
		t.Fatal(err)
	}
	if got.Spec.MaxUnavailable == nil || got.Spec.MaxUnavailable.String() != "50%" {
		t.Errorf("maxUnavailable defaults to %v, want 50%%", got.Spec.MaxUnavailable)
	}
}

// takesBackups: what kubectl get -o yaml printed of the older project's objects applies
// with strict validation, status and all.
func takesBackups(t *testing.T, api client.Client) {
	const (
		meta     = "nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata: {name: backup"
		status   = `{conditions: [{type: Available, status: "True", reason: SuccessfullyConfigured, message: "2/2 nodes successfully configured", lastHeartbeatTime: "2025-01-02T03:04:05Z", lastTransitionTime: "2025-01-02T03:04:05Z"}], `
		counts   = `lastUnavailableNodeCountUpdate: "2025-01-02T03:04:05Z", unavailableNodeCount: 1, unavailableNodeCountMap: {"1": 0, "2": 1}}`
		stateOf  = `{currentState: {interfaces: []}, handlerNmstateVersion: "2.2.50", handlerNetworkManagerVersion: "1.52.0", hostNetworkManagerVersion: "1.52.0", lastSuccessfulUpdateTime: "2025-01-02T03:04:05Z"}`
		enforced = `{desiredState: {interfaces: []}, desiredStateMetaInfo: {version: "0", time: "2025-01-02T03:04:05Z"}, policyGeneration: 2, retryCount: 3, features: [a]}`
	)
	backups := []string{
		"apiVersion: nmstate.io/v1beta1\nkind: NodeNetworkState\nmetadata: {name: backup}\nstatus: " + stateOf,
		"apiVersion: nmstate.io/v1beta1\nkind: NodeNetworkConfigurationEnactment\nmetadata: {name: node1.backup, labels: {nmstate.io/policy: backup}}\nstatus: " + enforced,
	}
	for i, most := range []string{"0", "-1", `"0%"`, `"3"`, `"200%"`, "3", `"50%"`} {
		backups = append(backups, "apiVersion: "+meta+string(rune('a'+i))+"}\nspec: {maxUnavailable: "+most+", desiredState: {interfaces: []}}\nstatus: "+status+counts)
	}
	for _, manifest := range backups {
		made := object(t, manifest)
		if err := api.Create(t.Context(), made, client.FieldValidation("Strict")); err != nil {
			t.Errorf("%s\n%v", manifest, err)
			continue
		}
		saved := object(t, manifest)
		saved.SetResourceVersion(made.GetResourceVersion())
		if err := api.Status().Update(t.Context(), saved, &client.SubResourceUpdateOptions{UpdateOptions: client.UpdateOptions{FieldValidation: "Strict"}}); err != nil {
			t.Errorf("the status of %s\n%v", manifest, err)
		}
	}
}

// keepsNull: null takes a key of Open vSwitch's database away, and a column without
// keys all of them, so that a null that gets lost takes everything away. It arrives
// when a policy is created and when it is applied on the server; a merge patch, as of
// a plain "kubectl apply" of a policy that is there, cannot write one (user guide 103).
func keepsNull(t *testing.T, api client.Client) {
	const holds = `{"ovs-db":{"external_ids":{"a":null}}}`
	manifest := policy("takes-away", `{desiredState: `+holds+`}`)
	stored := func() string {
		var got v1.NodeNetworkConfigurationPolicy
		if err := api.Get(t.Context(), client.ObjectKey{Name: "takes-away"}, &got); err != nil {
			t.Fatal(err)
		}
		return string(got.Spec.DesiredState.Raw)
	}
	if err := api.Create(t.Context(), object(t, manifest), client.FieldValidation("Strict")); err != nil {
		t.Fatal(err)
	}
	if got := stored(); got != holds {
		t.Errorf("created: %s, want %s", got, holds)
	}
	applied := object(t, strings.Replace(manifest, `"a":null`, `"a":null,"b":null`, 1))
	if err := api.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("test"), client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	if got, want := stored(), strings.Replace(holds, `"a":null`, `"a":null,"b":null`, 1); got != want {
		t.Errorf("applied: %s, want %s", got, want)
	}
}

// describes: short names, category, printer columns (those that the older project
// has come first, since scripts cut them out by position), status subresource, scope, storage.
func describes(t *testing.T, api client.Client) {
	for name, c := range map[string]struct{ short, columns []string }{
		"nodenetworkconfigurationpolicies":   {[]string{"nncp"}, []string{"Status", "Reason", "Nodes", "Age", "Message"}},
		"nodenetworkconfigurationenactments": {[]string{"nnce"}, []string{"Status", "Status Age", "Reason", "Node", "Policy", "Message"}},
		"nodenetworkstates":                  {[]string{"nns"}, []string{"Managed", "Available", "Drift", "Failing", "Phase", "Changed"}},
		"nmstates":                           {nil, []string{"Status", "Reason"}},
	} {
		crd := definition(t.Context(), t, api, name)
		if !slices.Equal(crd.Spec.Names.ShortNames, c.short) || crd.Spec.Scope != apiextensionsv1.ClusterScoped {
			t.Errorf("%s: short names %v, scope %s", name, crd.Spec.Names.ShortNames, crd.Spec.Scope)
		}
		// Not one that is called like the kind NMState: kubectl would take the name for
		// all four, so "kubectl get nmstate NAME" would fail and "kubectl delete nmstate
		// --all" take every policy away.
		if !slices.Equal(crd.Spec.Names.Categories, []string{"nmstate-all"}) {
			t.Errorf("%s: categories %v", name, crd.Spec.Names.Categories)
		}
		if len(crd.Spec.Versions) != 3 {
			t.Errorf("%s: %d versions, want 3", name, len(crd.Spec.Versions))
		}
		for _, version := range crd.Spec.Versions {
			var columns []string
			for _, column := range version.AdditionalPrinterColumns {
				columns = append(columns, column.Name)
			}
			if !slices.Equal(columns, c.columns) {
				t.Errorf("%s %s: columns %v, want %v", name, version.Name, columns, c.columns)
			}
			if !version.Served || version.Storage != (version.Name == "v1") || version.Subresources.Status == nil {
				t.Errorf("%s %s: served %v, stored %v, subresources %v", name, version.Name, version.Served, version.Storage, version.Subresources)
			}
		}
	}
}

func definition(ctx context.Context, t *testing.T, api client.Client, plural string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := api.Get(ctx, client.ObjectKey{Name: plural + ".nmstate.io"}, crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

func object(t *testing.T, manifest string) *unstructured.Unstructured {
	t.Helper()
	tree := map[string]any{}
	if err := yaml.Unmarshal([]byte(manifest), &tree); err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: tree}
}
