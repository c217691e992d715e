//go:build linux

package page

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
)

// served is kubectl nmstate serve on a real API server, and what it has printed.
type served struct {
	t       *testing.T
	api     client.Client
	address string
	client  *http.Client
	mu      sync.Mutex
	said    bytes.Buffer
}

func TestThePageForATeam(t *testing.T) {
	s := serveTeam(t)
	all := s.account("everything", "get list watch", "nodenetworkstates", "nodenetworkconfigurationpolicies", "nodenetworkconfigurationenactments")
	some := s.account("policies", "get list watch", "nodenetworkconfigurationpolicies", "nodenetworkconfigurationenactments")
	editor := s.account("editor", "get list watch patch", "nodenetworkstates", "nodenetworkconfigurationpolicies", "nodenetworkconfigurationenactments")
	none := s.account("nobody", "get", "nmstates")
	tests := []struct {
		name, path, token string
		code              int
		says              string
	}{
		{"without a token: nothing", "/", "", 401, "Bearer"},
		{"without a token: no file either", "/style.css", "", 401, "Bearer"},
		{"without a token: no events", "/events", "", 401, "Bearer"},
		{"a token that nobody has given", "/", "made-up", 401, "does not know this token"},
		{"who may see everything: the fleet", "/", all, 200, "node1"},
		{"who may see everything: a node", "/nodes/node1", all, 200, "eth1"},
		{"who may see policies: no fleet", "/", some, 403, "You may not see this"},
		{"who may see policies: no node", "/nodes/node1", some, 403, "You may not see this"},
		{"who may see nothing", "/policies", none, 403, "You may not see this"},
		{"who may edit", "/policies/careful", editor, 200, "keep the change on node1"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			code, body := s.ask(t, http.MethodGet, tc.path, tc.token, nil)
			if code != tc.code || !strings.Contains(body, tc.says) {
				t.Errorf("%d, want %d with %q in\n%s", code, tc.code, tc.says, body)
			}
			if tc.code == 401 && strings.Contains(body, "node1") {
				t.Errorf("it shows\n%s", body)
			}
		})
	}
	t.Run("a change is kept by who may, from this page", func(t *testing.T) { s.keeps(t, all, editor) })
	t.Run("a change is told by a watch", func(t *testing.T) { s.follows(t, all) })
	t.Run("a token that ends, ends at once", func(t *testing.T) { s.ends(t, all) })
	t.Run("no token is printed", func(t *testing.T) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, token := range []string{all, some, editor, none, "made-up"} {
			if strings.Contains(s.said.String(), token) {
				t.Errorf("it has printed %s", token)
			}
		}
	})
}

// serveTeam starts the API server and the program.
func serveTeam(t *testing.T) *served {
	t.Helper()
	plane := controlplanetest.Start(t, os.Getenv, controlplane.Options{CRDs: "../../deploy/crds"})
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1.AddToScheme, clientgoscheme.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	s := &served{t: t, api: controlplanetest.Client(t, plane, client.Options{Scheme: scheme})}
	put(t, s.api, nodeState("node1"))
	putCareful(t, s.api, "node1")
	// As the Deployment does it: an address and a certificate, and no account.
	config, err := plane.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	authority := t.TempDir() + "/ca.crt"
	if err := os.WriteFile(authority, config.CAData, 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), build(t), "serve", "--server", config.Host, "--certificate-authority", authority, "--listen", "127.0.0.1:0", "--read-only=false")
	command.Env = []string{"HOME=" + t.TempDir(), "KUBECONFIG=/nowhere"}
	printed, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stdout = &s.said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Signal(syscall.SIGINT); _ = command.Wait() })
	reader := bufio.NewReader(printed)
	line, err := reader.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "serving on ") {
		t.Fatalf("it prints %q, %v", line, err)
	}
	go func() {
		for {
			line, err := reader.ReadString('\n')
			s.mu.Lock()
			s.said.WriteString(line)
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	s.address = "https://" + strings.TrimSpace(strings.TrimPrefix(line, "serving on "))
	s.client = &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, //nolint:gosec // Its own certificate.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s
}

// account makes one with these rights, and returns a token of it.
func (s *served) account(name, verbs string, resources ...string) string {
	s.t.Helper()
	meta := metav1.ObjectMeta{Name: name, Namespace: "default"}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"nmstate.io"}, Resources: resources, Verbs: strings.Fields(verbs)}}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: name}},
	}
	account := &corev1.ServiceAccount{ObjectMeta: meta}
	for _, object := range []client.Object{account, role, binding} {
		if err := s.api.Create(s.t.Context(), object); err != nil {
			s.t.Fatal(err)
		}
	}
	ask := &authenticationv1.TokenRequest{}
	if err := s.api.SubResource("token").Create(s.t.Context(), account, ask); err != nil {
		s.t.Fatal(err)
	}
	return ask.Status.Token
}

func (s *served) ask(t *testing.T, method, path, token string, form url.Values, head ...string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.address+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i+1 < len(head); i += 2 {
		request.Header.Set(head[i], head[i+1])
	}
	answer, err := s.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

var wordOf = regexp.MustCompile(`name="word" value="([0-9a-f]+)"`)

func (s *served) keeps(t *testing.T, viewer, editor string) {
	form := func(token string) url.Values {
		_, page := s.ask(t, http.MethodGet, "/policies/careful", token, nil)
		found := wordOf.FindStringSubmatch(page)
		if found == nil {
			t.Fatalf("no button in\n%s", page)
		}
		return url.Values{"generation": {"1"}, "word": {found[1]}}
	}
	confirmed := func() string {
		var policy v1.NodeNetworkConfigurationPolicy
		if err := s.api.Get(t.Context(), client.ObjectKey{Name: "careful"}, &policy); err != nil {
			t.Fatal(err)
		}
		return policy.Annotations[v1.ConfirmAnnotation]
	}
	own := form(editor)
	for name, tc := range map[string]struct {
		token string
		form  url.Values
		head  []string
	}{
		"without a word":                   {editor, url.Values{"generation": {"1"}}, nil},
		"with the word of somebody else":   {editor, form(viewer), nil},
		"of another generation":            {editor, url.Values{"generation": {"2"}, "word": own["word"]}, nil},
		"from another page":                {editor, own, []string{"Sec-Fetch-Site", "cross-site"}},
		"from another page, by its origin": {editor, own, []string{"Origin", "https://evil.example"}},
		"by who may not":                   {viewer, form(viewer), nil},
	} {
		if code, body := s.ask(t, http.MethodPost, "/policies/careful/confirm", tc.token, tc.form, tc.head...); code != 403 || confirmed() != "" {
			t.Errorf("%s: %d, %s; confirmed: %q", name, code, body, confirmed())
		}
	}
	if code, body := s.ask(t, http.MethodPost, "/policies/careful/confirm", editor, own, "Sec-Fetch-Site", "same-origin"); code != 303 || confirmed() != "1" {
		t.Errorf("by who may: %d, %s; confirmed: %q", code, body, confirmed())
	}
}

// follows: a viewer's own watch tells of a change.
func (s *served) follows(t *testing.T, token string) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := s.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	lines := bufio.NewScanner(answer.Body)
	for begun := false; lines.Scan(); {
		switch {
		case lines.Text() != "data: changed":
		case begun:
			return
		default: // It is told once at the beginning; changes go on until one is seen.
			begun = true
			go func() {
				for i := 0; ctx.Err() == nil; i++ {
					state := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "node1"}}
					patch := fmt.Sprintf(`{"metadata":{"labels":{"seen":"%d"}}}`, i)
					_ = s.api.Patch(ctx, state, client.RawPatch("application/merge-patch+json", []byte(patch)))
					select {
					case <-ctx.Done():
					case <-time.After(time.Second):
					}
				}
			}()
		}
	}
	t.Errorf("the stream has ended without a change: %v", lines.Err())
}

// ends: nothing is remembered of what a token was good for.
func (s *served) ends(t *testing.T, token string) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "everything", Namespace: "default"}}
	if err := s.api.Delete(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	// The API server itself remembers an answer about a token for some seconds.
	controlplanetest.Eventually(t, func(context.Context) error {
		if code, _ := s.ask(t, http.MethodGet, "/", token, nil); code != 401 {
			return fmt.Errorf("it is answered by %d", code)
		}
		return nil
	})
}
