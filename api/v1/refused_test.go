package v1_test

import (
	"maps"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// refusal is a manifest's spec and the part of the API server's answer that
// says where, what and what to do.
type refusal struct{ spec, message string }

// refusedPolicies are the specs that no policy may have.
func refusedPolicies() map[string]refusal {
	return join(refusedNodes(), refusedInterfaces(), refusedGuards(), refusedSteps(), refusedValues())
}

func join(parts ...map[string]refusal) map[string]refusal {
	all := map[string]refusal{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

// refusedNodes: which nodes.
func refusedNodes() map[string]refusal {
	const (
		unavailable = `spec.maxUnavailable: must be a whole number or a percentage, such as 3 or "30%"`
		label       = "spec.nodeSelector: each value must be a label value: at most 63 letters, digits, '-', '_' or '.', beginning and ending with a letter or digit"
		affinity    = "spec.affinity: only nodeAffinity is accepted; remove podAffinity and podAntiAffinity"
	)
	return map[string]refusal{
		"a number with a percent sign in front":      {`{maxUnavailable: "%5"}`, unavailable},
		"a word for maxUnavailable":                  {`{maxUnavailable: half}`, unavailable},
		"half a node":                                {`{maxUnavailable: 1.5}`, "spec.maxUnavailable in body must be of type integer,string"},
		"a nodeSelector value with blanks":           {`{nodeSelector: {rack: "not a label"}}`, label},
		"a nodeSelector value that ends with a dash": {`{nodeSelector: {rack: "a-"}}`, label},
		"a nodeSelector value of 64 letters":         {`{nodeSelector: {rack: ` + strings.Repeat("a", 64) + `}}`, "spec.nodeSelector.rack: Too long: may not be more than 63 bytes"},
		"a nodeSelector value that is a number":      {`{nodeSelector: {rack: 5}}`, "spec.nodeSelector.rack in body must be of type string"},
		"preferred affinity":                         {`{affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: a, operator: Exists}]}}]}}}`, "spec.affinity.nodeAffinity: preferred terms have no meaning for a policy; use requiredDuringSchedulingIgnoredDuringExecution"},
		"affinity to pods":                           {`{affinity: {podAffinity: {}}}`, affinity},
		"aversion to pods":                           {`{affinity: {podAntiAffinity: {}}}`, affinity},
		"an unknown operator of a toleration":        {`{tolerations: [{key: a, operator: Is}]}`, "spec.tolerations: operator must be Exists, Equal, Lt or Gt"},
		"an unknown effect of a toleration":          {`{tolerations: [{effect: Never}]}`, "spec.tolerations: effect must be NoSchedule, PreferNoSchedule or NoExecute; leave it out for all of them"},
		"a priority in words":                        {`{priority: high}`, "spec.priority in body must be of type integer"},
		"a priority beyond 32 bits":                  {`{priority: 3000000000}`, "must be of type integer with format int32 in spec.priority"},
	}
}

// refusedInterfaces: match and autoConfig.
func refusedInterfaces() map[string]refusal {
	const matched = `match: [{name: "eth*"}]`
	return map[string]refusal{
		"match without a rule":                      {`{match: []}`, "spec.match: an empty list selects nothing; give it a rule, or leave match out"},
		"a match rule without a field":              {`{match: [{name: eth1}, {}]}`, "spec.match[1]: Invalid value: spec.match: a rule needs at least one of name, type, driver, macAddress, state, vlanID and lldp"},
		"a match rule with an empty name":           {`{match: [{name: ""}]}`, "spec.match[0].name in body should be at least 1 chars long"},
		"a match rule with an unknown state":        {`{match: [{state: broken}]}`, `spec.match[0].state: Unsupported value: "broken": supported values: "up", "down", "ignore"`},
		"a match rule with a VLAN id beyond 4094":   {`{match: [{vlanID: 4095}]}`, "spec.match[0].vlanID in body should be less than or equal to 4094"},
		"a match rule with a negative VLAN id":      {`{match: [{vlanID: -1}]}`, "spec.match[0].vlanID in body should be greater than or equal to 0"},
		"a match rule with a misspelt key":          {`{match: [{mac: "02:00:00:00:00:01"}]}`, `unknown field "spec.match[0].mac"`},
		"an lldp rule without a field":              {`{match: [{lldp: {}}]}`, "spec.match[0].lldp: Invalid value: spec.match: lldp needs at least one of chassisID, systemName, portID and vlanIDs"},
		"an lldp rule with no VLAN id":              {`{match: [{lldp: {vlanIDs: []}}]}`, "spec.match[0].lldp.vlanIDs in body should have at least 1 items"},
		"an lldp rule with a VLAN id twice":         {`{match: [{lldp: {vlanIDs: [7, 7]}}]}`, "spec.match[0].lldp.vlanIDs[1]: Duplicate value: 7"},
		"autoConfig together with desiredState":     {`{autoConfig: {vlan: {}}, ` + matched + `, desiredState: {interfaces: []}}`, "spec.autoConfig: not together with desiredState, since it makes one; remove one of them"},
		"autoConfig without match":                  {`{autoConfig: {vlan: {}}}`, "spec.autoConfig: needs spec.match, which says for which interfaces"},
		"autoConfig with neither bonding nor vlan":  {`{autoConfig: {}, ` + matched + `}`, "spec.autoConfig: needs bonding, vlan, or both"},
		"autoConfig with an unknown bond mode":      {`{autoConfig: {bonding: {mode: fast}}, ` + matched + `}`, `spec.autoConfig.bonding.mode: Unsupported value: "fast": supported values: "balance-rr", "active-backup"`},
		"autoConfig with a prefix that is a number": {`{autoConfig: {bonding: {namePrefix: "1"}}, ` + matched + `}`, "spec.autoConfig.bonding.namePrefix: letters, digits, '-' and '_', beginning with a letter, since it begins the name of an interface"},
		"autoConfig with a prefix of 13 letters":    {`{autoConfig: {bonding: {namePrefix: abcdefghijklm}}, ` + matched + `}`, "spec.autoConfig.bonding.namePrefix: Too long: may not be more than 12 bytes"},
	}
}

// refusedGuards: probes and windows.
func refusedGuards() map[string]refusal {
	const (
		target = "spec.probes[0]: Invalid value: spec.probes: target is required, except for confirm, which has none"
		drop   = "spec.defaultProbes: Drop needs at least one entry in spec.probes, or nothing would guard the change"
	)
	return map[string]refusal{
		"an unknown kind of probe":             {`{probes: [{type: udp, target: a}]}`, `spec.probes[0].type: Unsupported value: "udp": supported values: "ping", "dns", "tcp", "http", "confirm"`},
		"a probe without a kind":               {`{probes: [{target: a}]}`, "spec.probes[0].type: Required value"},
		"a ping of nothing":                    {`{probes: [{type: ping}]}`, target},
		"a ping of what is no host":            {`{probes: [{type: ping, target: "not a host"}]}`, "spec.probes: the target of ping is an address or a host name, that of dns a host name"},
		"a look-up of a URL":                   {`{probes: [{type: dns, target: "http://example.com"}]}`, "spec.probes: the target of ping is an address or a host name, that of dns a host name"},
		"a look-up of nothing":                 {`{probes: [{type: dns}]}`, target},
		"a connection to nothing":              {`{probes: [{type: tcp}]}`, target},
		"a request to nothing":                 {`{probes: [{type: http}]}`, target},
		"confirm with a target":                {`{probes: [{type: confirm, target: a}]}`, target},
		"an empty target":                      {`{probes: [{type: ping, target: ""}]}`, "spec.probes[0].target in body should be at least 1 chars long"},
		"a target of 513 letters":              {`{probes: [{type: ping, target: ` + strings.Repeat("a", 513) + `}]}`, "spec.probes[0].target: Too long: may not be more than 512 bytes"},
		"a tcp target without a port":          {`{probes: [{type: tcp, target: 192.0.2.1}]}`, "spec.probes: the target of tcp is host:port, such as 192.0.2.1:443"},
		"an http target without a scheme":      {`{probes: [{type: http, target: example.com/healthz}]}`, "spec.probes: the target of http is a URL that begins with http:// or https://"},
		"17 probes":                            {`{probes: [` + strings.Repeat("{type: ping, target: a},", 17) + `]}`, "spec.probes: Too many: 17: must have at most 16 items"},
		"a probe with no time":                 {`{probes: [{type: ping, target: a, timeoutSeconds: 0}]}`, "spec.probes[0].timeoutSeconds in body should be greater than or equal to 1"},
		"a probe with more than half an hour":  {`{probes: [{type: ping, target: a, timeoutSeconds: 1801}]}`, "spec.probes[0].timeoutSeconds in body should be less than or equal to 1800"},
		"a probe without a pause":              {`{probes: [{type: ping, target: a, intervalSeconds: 0}]}`, "spec.probes[0].intervalSeconds in body should be greater than or equal to 1"},
		"a probe with too long a pause":        {`{probes: [{type: ping, target: a, intervalSeconds: 301}]}`, "spec.probes[0].intervalSeconds in body should be less than or equal to 300"},
		"a probe window of no time":            {`{probeTimeoutSeconds: 0}`, "spec.probeTimeoutSeconds in body should be greater than or equal to 1"},
		"a probe window above half an hour":    {`{probeTimeoutSeconds: 1801}`, "spec.probeTimeoutSeconds in body should be less than or equal to 1800"},
		"no default probes and no others":      {`{defaultProbes: Drop}`, drop},
		"no default probes and an empty list":  {`{defaultProbes: Drop, probes: []}`, drop},
		"an unknown word for the default ones": {`{defaultProbes: None}`, `spec.defaultProbes: Unsupported value: "None": supported values: "Keep", "Drop"`},
	}
}

// refusedSteps: rollout, mode, undo and drift.
func refusedSteps() map[string]refusal {
	const hash = "spec.planHashes: not a plan's hash; copy it from status.plans of the policy in mode Plan"
	return map[string]refusal{
		"a pause after a canary that is not there": {`{rollout: {pauseAfterCanary: true}}`, "spec.rollout.pauseAfterCanary: needs canary, the number of nodes that go first"},
		"a canary of no node":                      {`{rollout: {canary: 0}}`, "spec.rollout.canary in body should be greater than or equal to 1"},
		"a canary in percent":                      {`{rollout: {canary: "10%"}}`, "spec.rollout.canary in body must be of type integer"},
		"a soak in the past":                       {`{rollout: {soakSeconds: -1}}`, "spec.rollout.soakSeconds in body should be greater than or equal to 0"},
		"a soak of more than a day":                {`{rollout: {soakSeconds: 86401}}`, "spec.rollout.soakSeconds in body should be less than or equal to 86400"},
		"an unknown mode":                          {`{mode: Dry}`, `spec.mode: Unsupported value: "Dry": supported values: "Apply", "Plan"`},
		"an unknown undo":                          {`{onDelete: Undo}`, `spec.onDelete: Unsupported value: "Undo": supported values: "Retain", "Revert"`},
		"an unknown answer to drift":               {`{drift: Ignore}`, `spec.drift: Unsupported value: "Ignore": supported values: "Correct", "Report"`},
		"a plan hash that is none":                 {`{planHashes: ["the one of yesterday"]}`, hash},
		"an empty plan hash":                       {`{planHashes: [""]}`, hash},
		"a plan hash that is too long":             {`{planHashes: [` + strings.Repeat("a", 65) + `]}`, "spec.planHashes[0]: Too long: may not be more than 64 bytes"},
		"a plan hash twice":                        {`{planHashes: [abcdef01, abcdef01]}`, `spec.planHashes[1]: Duplicate value: "abcdef01"`},
	}
}

// refusedValues: variables, captures and the state itself.
func refusedValues() map[string]refusal {
	const source = "spec.variables[a]: Invalid value: spec.variables: each needs exactly one of fromLabel, fromAnnotation and values"
	return map[string]refusal{
		"a variable with two sources":           {`{variables: {a: {fromLabel: x, values: {node1: v}}}}`, source},
		"a variable with three sources":         {`{variables: {a: {fromLabel: x, fromAnnotation: z, values: {node1: v}}}}`, source},
		"a variable without a source":           {`{variables: {a: {}}}`, source},
		"a variable with nothing but a default": {`{variables: {a: {default: x}}}`, source},
		"a variable from a label without a key": {`{variables: {a: {fromLabel: ""}}}`, "spec.variables.a.fromLabel in body should be at least 1 chars long"},
		"a variable that no template can name":  {`{variables: {"a b": {fromLabel: x}}}`, "spec.variables: a name is at most 63 letters, digits, '-' or '_', beginning with a letter"},
		"a capture that is no expression":       {`{capture: {a: {}}}`, "spec.capture.a in body must be of type string"},
		"a desired state that is a word":        {`{desiredState: up}`, "spec.desiredState in body must be of type object"},
		"a desired state that is a list":        {`{desiredState: []}`, "spec.desiredState in body must be of type object"},
		"a field that nobody acts on":           {`{variable: {}}`, `unknown field "spec.variable"`},
	}
}

// refuses tries each refused spec in each version; each answer is one line.
func refuses(t *testing.T, api client.Client) {
	for _, version := range []string{"v1", "v1beta1", "v1alpha1"} {
		in := func(manifest string) string {
			return strings.Replace(manifest, "nmstate.io/v1", "nmstate.io/"+version, 1)
		}
		for sentence, r := range refusedPolicies() {
			t.Run(version+"/"+sentence, func(t *testing.T) { isRefused(t, api, in(policy("p", r.spec)), r.message) })
		}
		t.Run(version+"/a name too long for a label", func(t *testing.T) {
			isRefused(t, api, in(policy(strings.Repeat("a", 64), "{}")), "metadata.name: must be no more than 63 characters and shaped like a label value, since enactments carry it as a label")
		})
		for sentence, r := range map[string]refusal{
			"a node state with an unknown kind of probe": {`{probes: [{type: udp, target: a}]}`, `spec.probes[0].type: Unsupported value: "udp"`},
			"a node state with a window of no time":      {`{probeTimeoutSeconds: 0}`, "spec.probeTimeoutSeconds in body should be greater than or equal to 1"},
			"a node state that is managed a little":      {`{managed: "a little"}`, "spec.managed in body must be of type boolean"},
		} {
			t.Run(version+"/"+sentence, func(t *testing.T) {
				isRefused(t, api, in("apiVersion: nmstate.io/v1\nkind: NodeNetworkState\nmetadata: {name: node9}\nspec: "+r.spec), r.message)
			})
		}
	}
	t.Run("another node in spec.nodeName", func(t *testing.T) {
		nns := object(t, "apiVersion: nmstate.io/v1\nkind: NodeNetworkState\nmetadata: {name: node1}\nspec: {nodeName: node1}")
		if err := api.Create(t.Context(), nns); err != nil {
			t.Fatal(err)
		}
		err := api.Patch(t.Context(), nns, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"nodeName":"node2"}}`)))
		if err == nil || !strings.Contains(err.Error(), "spec.nodeName: cannot be changed; the object is named after its node") {
			t.Errorf("error = %v", err)
		}
	})
}

func isRefused(t *testing.T, api client.Client, manifest, message string) {
	t.Helper()
	err := api.Create(t.Context(), object(t, manifest), client.FieldValidation("Strict"), client.DryRunAll)
	if err == nil || !strings.Contains(err.Error(), message) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error = %v\nwant one line with %q", err, message)
	}
}

// explains: kubectl explain has a sentence for every field that a person may
// write. What is below a field of Kubernetes' own is Kubernetes' affair.
func explains(t *testing.T, api client.Client) {
	for _, plural := range []string{"nodenetworkconfigurationpolicies", "nodenetworkconfigurationenactments", "nodenetworkstates", "nmstates"} {
		for _, version := range definition(t.Context(), t, api, plural).Spec.Versions {
			for _, field := range undescribed("spec", version.Schema.OpenAPIV3Schema.Properties["spec"]) {
				t.Errorf("%s %s: %s has no description, or one that is cut off", plural, version.Name, field)
			}
		}
	}
}

func undescribed(path string, schema apiextensionsv1.JSONSchemaProps) []string {
	var found []string
	if schema.Items != nil && schema.Items.Schema != nil {
		found = append(found, undescribed(path+"[]", *schema.Items.Schema)...)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		found = append(found, undescribed(path+"[]", *schema.AdditionalProperties.Schema)...)
	}
	for name, field := range schema.Properties {
		below := path + "." + name
		if text := strings.TrimSpace(field.Description); text == "" || strings.Count(text, "{{") != strings.Count(text, "}}") {
			found = append(found, below)
		}
		found = append(found, undescribed(below, field)...)
	}
	return found
}
