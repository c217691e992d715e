package controlplane_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

func start(t *testing.T, options controlplane.Options) *controlplane.ControlPlane {
	t.Helper()
	return controlplanetest.Start(t, os.Getenv, options)
}

func admin(t *testing.T, plane *controlplane.ControlPlane) client.Client {
	t.Helper()
	return controlplanetest.Client(t, plane, client.Options{})
}

func create(t *testing.T, api client.Client, object client.Object) {
	t.Helper()
	if err := api.Create(t.Context(), object); err != nil {
		t.Fatalf("creating %T %s: %v", object, object.GetName(), err)
	}
}

func configMap(namespace, name string, owners ...metav1.OwnerReference) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, OwnerReferences: owners}}
}

func TestObjectsWhoseOwnerIsDeletedAreCollected(t *testing.T) {
	plane := start(t, controlplane.Options{CRDs: "testdata/crds"})
	if !plane.HasGarbageCollector() {
		t.Skip("these programs have no kube-controller-manager")
	}
	api := admin(t, plane)
	create(t, api, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "family"}})
	owner := configMap("family", "owner")
	create(t, api, owner)
	reference := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}
	dependant := configMap("family", "dependant", reference)
	create(t, api, dependant)
	custom := &unstructured.Unstructured{}
	custom.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Thing"})
	custom.SetNamespace("family")
	custom.SetName("custom")
	custom.SetOwnerReferences([]metav1.OwnerReference{reference})
	create(t, api, custom)

	if err := api.Delete(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	controlplanetest.Eventually(t, func(ctx context.Context) error { return gone(ctx, api, dependant) })
	controlplanetest.Eventually(t, func(ctx context.Context) error { return gone(ctx, api, custom) })
}

func TestProgramsWithoutAControllerManagerStartWithoutGarbageCollection(t *testing.T) {
	all := controlplanetest.Assets(t, os.Getenv)
	few := t.TempDir()
	for _, program := range []string{"etcd", "kube-apiserver"} {
		if err := os.Symlink(all.Path(program), filepath.Join(few, program)); err != nil {
			t.Fatal(err)
		}
	}
	plane := start(t, controlplane.Options{Assets: controlplane.Assets{Dir: few}})
	if plane.HasGarbageCollector() {
		t.Error("it says that it collects garbage")
	}
}

// A slow machine's ends there; a stand-in does so the first time.
func TestAnAPIServerThatEndsInItsOwnStartHookIsStartedAgain(t *testing.T) {
	all, dir := controlplanetest.Assets(t, os.Getenv), t.TempDir()
	if err := os.Symlink(all.Path("etcd"), filepath.Join(dir, "etcd")); err != nil {
		t.Fatal(err)
	}
	once := filepath.Join(t.TempDir(), "once")
	script := fmt.Sprintf(`#!/bin/sh
if mkdir %q 2>/dev/null; then
	echo 'F1122 19:00:00.000000 1 hooks.go:204] PostStartHook "rbac/bootstrap-roles" failed: unable to initialize roles: timed out waiting for the condition' >&2
	exit 255
fi
exec %q "$@"
`, once, all.Path("kube-apiserver"))
	if err := os.WriteFile(filepath.Join(dir, "kube-apiserver"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	plane := start(t, controlplane.Options{Assets: controlplane.Assets{Dir: dir}})
	create(t, admin(t, plane), configMap("default", "there"))
	if _, err := os.Stat(once); err != nil {
		t.Error("the stand-in never ran")
	}
	// With a context that is done already Wait would tell either, by luck.
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := plane.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the end that was mended is told as one: %v", err)
	}
}

func gone(ctx context.Context, api client.Client, object client.Object) error {
	err := api.Get(ctx, client.ObjectKeyFromObject(object), object)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err == nil:
		return errors.New("it still exists")
	default:
		return err
	}
}

func TestTheAPIServerComesBackWithItsObjectsAndKubeconfig(t *testing.T) {
	dir := t.TempDir()
	plane := start(t, controlplane.Options{Dir: dir})
	api := admin(t, plane)
	before, err := os.ReadFile(plane.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	object := configMap("default", "survivor")
	create(t, api, object)

	if err := plane.StopAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if connection, err := net.Dial("tcp", plane.APIServerAddress()); err == nil {
		_ = connection.Close()
		t.Errorf("the stopped API server still listens on %s", plane.APIServerAddress())
	}
	for _, bring := range []struct {
		how   string
		again func() error
	}{
		{"after a stop", func() error { return plane.StartAPIServer(t.Context()) }},
		{"after a kill", func() error { plane.KillAPIServer(); return plane.StartAPIServer(t.Context()) }},
		{"with a control plane started anew in the same folder", func() error {
			plane.Stop()
			plane = start(t, controlplane.Options{Dir: dir})
			return nil
		}},
	} {
		begin := time.Now()
		if err := bring.again(); err != nil {
			t.Fatalf("%s: %v", bring.how, err)
		}
		t.Logf("ready %s in %.1f s", bring.how, time.Since(begin).Seconds())
		// The client is the first one: its address, token and trust still hold.
		if err := api.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			t.Errorf("%s: %v", bring.how, err)
		}
	}
	after, err := os.ReadFile(plane.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(after) {
		t.Error("the kubeconfig changed")
	}
}

func TestANodeReachesTheAPIServerAtAnotherAddress(t *testing.T) {
	audit := filepath.Join(t.TempDir(), "audit.log")
	plane := start(t, controlplane.Options{Dir: t.TempDir(), AuditLog: audit})
	api := admin(t, plane)
	create(t, api, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node1"}})
	create(t, api, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "handler"}})
	token, err := plane.Files().ServiceAccountToken(t.Context(), "default", "handler", "node1", time.Hour)
	if err != nil {
		t.Fatal(err)
	}

	// 127.0.0.2 is not on the certificate.
	raw, err := plane.NodeKubeconfig("https://"+forward(t, "127.0.0.2:0", plane.APIServerAddress()), token)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(raw)
	if err != nil {
		t.Fatal(err)
	}
	config.UserAgent = "handler/test"
	node, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var list corev1.SecretList
	if err := node.List(t.Context(), &list); !apierrors.IsForbidden(err) {
		t.Errorf("listing secrets as a service account without rights: %v, want forbidden", err)
	}

	filter := controlplane.Filter{Node: "node1", UserAgent: "handler/", Verbs: []string{"list"}, Resources: []string{"secrets"}}
	controlplanetest.Eventually(t, func(context.Context) error {
		count, err := controlplane.CountRequests(audit, filter)
		if err == nil && count != 1 {
			err = errors.New("the list is not in the audit log")
		}
		return err
	})
	requests, err := controlplane.ReadRequests(audit, controlplane.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("requests of one start:\n%s", controlplane.Summary(requests))
}

func TestBadStartsAreRefusedInOneLine(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	empty := t.TempDir()
	for name, c := range map[string]struct {
		options controlplane.Options
		want    string
	}{
		"a port in use":            {controlplane.Options{Dir: t.TempDir(), Port: taken.Addr().(*net.TCPAddr).Port}, "address already in use"},
		"a port that is no port":   {controlplane.Options{Dir: t.TempDir(), Port: 70000}, "from 1 to 65535"},
		"no folder":                {controlplane.Options{}, "no folder is given"},
		"a folder with no program": {controlplane.Options{Dir: t.TempDir(), Assets: controlplane.Assets{Dir: empty}}, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			plane, err := controlplane.Start(t.Context(), c.options)
			if err == nil {
				plane.Stop()
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want one line with %q", err, c.want)
			}
		})
	}
}

func TestASecondStartInTheSameFolderIsRefused(t *testing.T) {
	dir := t.TempDir()
	start(t, controlplane.Options{Dir: dir})
	second, err := controlplane.Start(t.Context(), controlplane.Options{Dir: dir, Assets: controlplanetest.Assets(t, os.Getenv)})
	if err == nil {
		second.Stop()
	}
	if !errors.Is(err, controlplane.ErrRunning) {
		t.Errorf("got %v, want %v", err, controlplane.ErrRunning)
	}
}

func TestAProgramThatFailsIsNamedWithItsLog(t *testing.T) {
	programs := t.TempDir()
	for _, program := range []string{"etcd", "kube-apiserver"} {
		script := "#!/bin/sh\necho the reason is here >&2\nexit 7\n"
		if err := os.WriteFile(filepath.Join(programs, program), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	plane, err := controlplane.Start(t.Context(), controlplane.Options{Dir: t.TempDir(), Assets: controlplane.Assets{Dir: programs}})
	if err == nil {
		plane.Stop()
		t.Fatal("it started")
	}
	for _, want := range []string{"etcd", "exit status 7", "etcd.log", "the reason is here"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}
