package bundle

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func objects() Objects {
	nns := v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "worker.example.com", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "handler"}}}}
	nns.Spec.Secrets = []v1.SealedSecret{{}}
	nns.Status.SecretsKey = "public-key"
	nns.Status.CurrentState = v1.NewState([]byte(`{"hostname":{"running":"worker.example.com"},"dns-resolver":{"running":{"search":["corp.example.org"]}},"interfaces":[
		{"name":"eth0","type":"ethernet","mac-address":"52:54:00:AA:BB:CC","802.1x":{"identity":"me","password":"letmein"},
		 "ipv4":{"address":[{"ip":"198.51.100.7","prefix-length":24}]},"lldp":{"neighbors":[[{"system-name":"tor-7.corp.example.org"}]]}}]}`))
	policy := v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "storage", Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "letmein"}}}
	enactment := v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{Name: "worker.example.com.storage", Labels: map[string]string{v1.EnactmentNodeLabel: "worker.example.com"}}}
	return Objects{
		Policies: []v1.NodeNetworkConfigurationPolicy{policy}, Enactments: []v1.NodeNetworkConfigurationEnactment{enactment}, States: []v1.NodeNetworkState{nns},
		Versions: map[string]string{"kubectl-nmstate": "devel"}, Logs: map[string][]byte{"handler-1": []byte("worker.example.com: ping 198.51.100.1 from 198.51.100.7, 2001:db8::7, 52:54:00:aa:bb:cc at 12:30:45\n")},
		Missing: []string{"the events: you may not"},
	}
}

func TestFilesHaveNoSecrets(t *testing.T) {
	files, err := FilesOf(objects())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"README.txt", "enactments/worker.example.com.storage.yaml", "logs/handler-1.log", "policies/storage.yaml", "states/worker.example.com.yaml"}
	if diff := cmp.Diff(want, files.Names()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for name, text := range files {
		for _, secret := range []string{"letmein", "public-key", "managedFields", "secrets:"} {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s has %s:\n%s", name, secret, text)
			}
		}
	}
	if readme := string(files["README.txt"]); !strings.Contains(readme, "Missing: the events: you may not") || !strings.Contains(readme, "kubectl-nmstate: devel") {
		t.Errorf("the README says:\n%s", readme)
	}
}

func TestMaskLeavesNoNameAndNoAddress(t *testing.T) {
	o := objects()
	files, err := FilesOf(o)
	if err != nil {
		t.Fatal(err)
	}
	masked := NewMask([]byte("key"), o).Apply(files)
	for name, text := range masked {
		for _, known := range []string{"worker", "example.org", "tor-7", "198.51.100", "2001:db8", "52:54:00", "AA:BB:CC"} {
			if strings.Contains(name+string(text), known) {
				t.Errorf("%s has %s:\n%s", name, known, text)
			}
		}
	}
	if _, is := masked["states/node-1.yaml"]; !is {
		t.Errorf("the files are %v", masked.Names())
	}
	if log := string(masked["logs/handler-1.log"]); !strings.Contains(log, "at 12:30:45") || !strings.Contains(log, "node-1: ping 10.") {
		t.Errorf("the log is %s", log)
	}
}

func TestMaskKeepsNetworks(t *testing.T) {
	m := NewMask([]byte("key"), Objects{})
	for _, kept := range []string{"127.0.0.1", "0.0.0.0/0", "::/0", "::1", "255.255.255.0", "224.0.0.251", "ff02::1", "01:80:C2:00:00:00", "00:00:00:00:00:00", "12:30:45", "mtu: 1500", "1.52.1"} {
		if got := m.Text(kept); got != kept {
			t.Errorf("%s became %s", kept, got)
		}
	}
	for _, pair := range [][2]string{{"192.0.2.1", "192.0.2.200"}, {"2001:db8:1::1", "2001:db8:1::2:3"}, {"fe80::1", "fe80::2"}} {
		a, b := netip.MustParseAddr(m.Text(pair[0])), netip.MustParseAddr(m.Text(pair[1]))
		bits := map[bool]int{true: 24, false: 64}[a.Is4()]
		network, err := a.Prefix(bits)
		if err != nil || !network.Contains(b) || a == b {
			t.Errorf("%v became %s and %s", pair, a, b)
		}
	}
	if a, b := m.Text("52:54:00:AA:BB:CC"), m.Text("52:54:00:aa:bb:cc"); !strings.EqualFold(a, b) || strings.EqualFold(a, "52:54:00:aa:bb:cc") {
		t.Errorf("one address became %s and %s", a, b)
	}
	if other := NewMask([]byte("other"), Objects{}); other.Text("192.0.2.1") == m.Text("192.0.2.1") {
		t.Error("the key makes no difference")
	}
}
