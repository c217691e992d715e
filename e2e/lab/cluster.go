//go:build linux

package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	fieldOwner       = client.FieldOwner("lab")
	handlerNamespace = "nmstate"
	handlerAccount   = "nmstate-handler"
)

func splitLines(text string) iter.Seq[string] {
	return strings.SplitSeq(strings.TrimSpace(text), "\n")
}

// joinNodes makes the nodes members of the cluster, if there is one.
func (l *Lab) joinNodes(ctx context.Context) error {
	if l.rec.Kubeconfig == "" {
		return nil
	}
	config, err := l.RESTConfig()
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return fmt.Errorf("preparing the client: %w", err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("connecting to the API server: %w", err)
	}
	for _, path := range l.manifests() {
		if err := ApplyManifests(ctx, c, path); err != nil {
			return err
		}
	}
	if err := ensureHandlerAccount(ctx, c); err != nil {
		return fmt.Errorf("service account of the handler: %w", err)
	}
	for _, n := range l.Nodes() {
		if err := n.join(ctx, c, config); err != nil {
			return fmt.Errorf("node %s: %w", n.Name, err)
		}
	}
	l.opts.Progress(plural(len(l.Nodes()), "node", "nodes") + " joined the cluster")
	return nil
}

// manifests are what the cluster gets, in the order in which they need each
// other.
func (l *Lab) manifests() []string {
	var all []string
	if l.opts.Deploy != "" {
		for _, part := range []string{"crds", "namespace", "rbac", "admission", "components/secrets"} {
			all = append(all, filepath.Join(l.opts.Deploy, part))
		}
	}
	return append(all, l.opts.Manifests...)
}

// ApplyManifests applies the objects of a YAML file, or of all files of a folder,
// in the order of their names.
func ApplyManifests(ctx context.Context, c client.Client, path string) error {
	return filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("reading manifests: %w", err)
		}
		ext := filepath.Ext(file)
		if entry.IsDir() || (ext != ".yaml" && ext != ".yml") || entry.Name() == "kustomization.yaml" {
			return nil
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("reading manifests: %w", err)
		}
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), 4096)
		for {
			object := &unstructured.Unstructured{}
			err := decoder.Decode(object)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("reading %s: %w", file, err)
			}
			if len(object.Object) == 0 {
				continue
			}
			apply := client.ApplyConfigurationFromUnstructured(object)
			if err := c.Apply(ctx, apply, fieldOwner, client.ForceOwnership); err != nil {
				return fmt.Errorf("applying %s %s of %s: %w", object.GetKind(), object.GetName(), file, err)
			}
		}
	})
}

// ensureHandlerAccount makes the account of the handlers, with all rights, where
// the manifests brought none.
func ensureHandlerAccount(ctx context.Context, c client.Client) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: handlerNamespace, Name: handlerAccount}}
	err := c.Get(ctx, client.ObjectKeyFromObject(account), account)
	if err == nil || !apierrors.IsNotFound(err) {
		return err
	}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: handlerNamespace}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: handlerNamespace, Name: handlerAccount}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "lab-handler"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: handlerNamespace, Name: handlerAccount}},
		},
	} {
		if err := c.Create(ctx, object); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating %s: %w", object.GetName(), err)
		}
	}
	return nil
}

// join makes the Node object, Ready as a kubelet would say, and the node's
// kubeconfig, whose server is the gateway.
func (n *Node) join(ctx context.Context, c client.Client, config *rest.Config) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: map[string]string{
		corev1.LabelHostname:              n.Name,
		corev1.LabelOSStable:              "linux",
		"node-role.kubernetes.io/worker":  "",
		"kubernetes-nmstate.lab/topology": n.lab.rec.Name,
	}}}
	if err := c.Create(ctx, node); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating the Node: %w", err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(node), node); err != nil {
		return fmt.Errorf("reading the Node: %w", err)
	}
	now := metav1.NewTime(n.lab.opts.Clock.Now())
	node.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "LabNode",
		Message: "a lab node has no kubelet", LastHeartbeatTime: now, LastTransitionTime: now,
	}}
	if a := n.Address(); a != "" {
		node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: a}, {Type: corev1.NodeHostName, Address: n.Name}}
	}
	if err := c.Status().Update(ctx, node); err != nil {
		return fmt.Errorf("saying that the Node is Ready: %w", err)
	}
	token, err := handlerToken(ctx, c, node)
	if err != nil {
		return err
	}
	kubeconfig, err := nodeKubeconfig(config, n.Gateway(), token)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(n.dir(), "kubeconfig"), kubeconfig, 0o600); err != nil {
		return fmt.Errorf("writing the node's kubeconfig: %w", err)
	}
	return nil
}

// handlerToken is a token as the handler's pod on that node would have.
func handlerToken(ctx context.Context, c client.Client, node *corev1.Node) (string, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: handlerNamespace, Name: handlerAccount}}
	ask := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: new(int64((24 * time.Hour).Seconds())),
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID},
	}}
	if err := c.SubResource("token").Create(ctx, account, ask); err != nil {
		return "", fmt.Errorf("asking for a token: %w", err)
	}
	return ask.Status.Token, nil
}

func nodeKubeconfig(config *rest.Config, gateway, token string) ([]byte, error) {
	u, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("reading the API server's address: %w", err)
	}
	name := config.ServerName
	if name == "" {
		name = u.Hostname()
	}
	if err := rest.LoadTLSFiles(config); err != nil {
		return nil, fmt.Errorf("reading the cluster's certificate: %w", err)
	}
	k := clientcmdapi.NewConfig()
	k.Clusters["lab"] = &clientcmdapi.Cluster{
		Server:                   "https://" + net.JoinHostPort(gateway, strconv.Itoa(apiPort)),
		TLSServerName:            name,
		CertificateAuthorityData: config.CAData,
		InsecureSkipTLSVerify:    config.Insecure,
	}
	k.AuthInfos["lab"] = &clientcmdapi.AuthInfo{Token: token}
	k.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: "lab"}
	k.CurrentContext = "lab"
	raw, err := clientcmd.Write(*k)
	if err != nil {
		return nil, fmt.Errorf("writing the node's kubeconfig: %w", err)
	}
	return raw, nil
}
