package kind

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
)

func folderName(text string) string {
	name := regexp.MustCompile(`[^a-zA-Z0-9]+`).ReplaceAllString(text, "-")
	const most = 100
	return name[:min(len(name), most)]
}

// save copies what explains a failure. What cannot be had is left out.
func (c *cluster) save(ctx context.Context, folder string) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		GinkgoWriter.Println("no artifacts:", err)
		return
	}
	write := func(name, content string, err error) {
		if err != nil {
			content += "\n" + err.Error() + "\n"
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			GinkgoWriter.Println("artifact", name, err)
		}
	}
	for _, kind := range []string{"nncp", "nnce", "nns", "nodes"} {
		out, err := c.tryKubectl(ctx, "get", kind, "-o", "yaml")
		write(kind+".yaml", out, err)
	}
	out, err := c.tryKubectl(ctx, "get", "pods,ds,deploy,pdb,leases", "-n", namespace, "-o", "yaml")
	write("namespace.yaml", out, err)
	out, err = c.tryKubectl(ctx, "get", "pods", "-A", "-o", "wide")
	write("pods.txt", out, err)
	out, err = c.tryKubectl(ctx, "get", "events", "-A", "--sort-by=.lastTimestamp")
	write("events.txt", out, err)
	for _, n := range c.all() {
		for name, script := range map[string]string{
			"logs":           "for log in /var/log/pods/" + namespace + "_*/*/*.log; do echo \"== $log\"; tail -n 3000 \"$log\"; done",
			"networkmanager": "journalctl -u NetworkManager --no-pager -o short-precise | tail -n 3000",
			"kubelet":        "journalctl -u kubelet --no-pager -o short-precise | tail -n 500",
			"network":        "ip -details address; ip route show table all; ip -6 route show table all; ip rule; nmcli device; nmcli connection; busctl get-property org.freedesktop.NetworkManager /org/freedesktop/NetworkManager org.freedesktop.NetworkManager Checkpoints",
			"connections":    "for file in /etc/NetworkManager/system-connections/* /run/NetworkManager/system-connections/*; do echo \"== $file\"; cat \"$file\"; done",
			"journal":        "for file in " + journalDir + "/*.json; do echo \"== $file\"; cat \"$file\"; echo; done",
		} {
			out, err := n.try(ctx, "sh", "-c", script)
			write(n.name+"-"+name+".txt", out, err)
		}
		write(n.name+"-pristine.txt", strings.Join(n.pristine, "\n"), nil)
	}
	AddReportEntry("artifacts", folder)
}
