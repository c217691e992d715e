package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubectl/pkg/cmd"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubeadm "k8s.io/kubernetes/cmd/kubeadm/app"
	kubeadmerrors "k8s.io/kubernetes/cmd/kubeadm/app/util/errors"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

const usage = "usage: kube kube-apiserver|kube-controller-manager|kube-scheduler|kube-proxy|kubelet|kubeadm|etcd|kubectl [flags]"

func main() {
	os.Exit(run(os.Args))
}

// run ends the process itself for the programs whose libraries do so.
func run(args []string) int {
	name := filepath.Base(args[0])
	if name == "kube" && len(args) > 1 {
		args = args[1:]
		name = args[0]
	}
	// Every program parses os.Args by itself.
	os.Args = args

	switch name {
	case "kube-apiserver":
		return daemon(apiserver.NewAPIServerCommand())
	case "kube-controller-manager":
		return daemon(controllermanager.NewControllerManagerCommand())
	case "kube-scheduler":
		return daemon(scheduler.NewSchedulerCommand())
	case "kube-proxy":
		return daemon(proxy.NewProxyCommand())
	case "kubelet":
		return daemon(kubelet.NewKubeletCommand(context.Background()))
	case "kubeadm":
		kubeadmerrors.HandleError(kubeadm.Run())
		return 0
	case "etcd":
		etcdmain.Main(args)
		return 0
	case "kubectl":
		return kubectl(args)
	default:
		fmt.Fprintln(os.Stderr, usage)
		return 2
	}
}

func daemon(command *cobra.Command) int {
	return cli.Run(command)
}

func kubectl(args []string) int {
	if _, err := logs.GlogSetter(cmd.GetLogVerbosity(args)); err != nil {
		fmt.Fprintln(os.Stderr, "kubectl:", err)
		return 1
	}
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		cmdutil.CheckErr(err)
	}
	return 0
}
