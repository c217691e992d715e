package controlplane

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The names of the programs, which are also the names of their logs.
const (
	etcdProgram              = "etcd"
	apiServerProgram         = "kube-apiserver"
	controllerManagerProgram = "kube-controller-manager"
)

// Files names what a control plane keeps in its folder.
type Files struct {
	// Dir is the folder, absolute.
	Dir string
}

// Kubeconfig is the administrator's kubeconfig.
func (f Files) Kubeconfig() string { return f.at("kubeconfig") }

// PIDFile holds the id of the process that runs the control plane, and is
// locked by it: an unlocked one is left over from a process that is gone.
func (f Files) PIDFile() string { return f.at("pid") }

// Log is the log of one program, for example "kube-apiserver".
func (f Files) Log(program string) string { return f.at(program + ".log") }

func (f Files) port() string                        { return f.at("port") }
func (f Files) tokens() string                      { return f.at("tokens.csv") }
func (f Files) adminToken() string                  { return f.at("admin.token") }
func (f Files) controllerManagerToken() string      { return f.at("controller-manager.token") }
func (f Files) controllerManagerKubeconfig() string { return f.at("controller-manager.kubeconfig") }
func (f Files) servingCertificate() string          { return f.at("serving.pem") }
func (f Files) servingKey() string                  { return f.at("serving-key.pem") }
func (f Files) serviceAccountKey() string           { return f.at("service-account-key.pem") }
func (f Files) auditPolicy() string                 { return f.at("audit-policy.yaml") }
func (f Files) etcdData() string                    { return f.at("etcd") }
func (f Files) etcdBackup() string                  { return f.at("etcd-backup") }
func (f Files) etcdSocket() string                  { return f.at(etcdSocketName) }

func (f Files) at(name string) string { return filepath.Join(f.Dir, name) }

// readNumber is 0 for a file that is missing or holds no number.
func readNumber(path string) int {
	content, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	number, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return 0
	}
	return number
}
