package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	backend "github.com/nmstate/kubernetes-nmstate/handler/backend/nmstate"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// statePath is where the whole report is served beside the metrics.
const statePath = "/state"

// stateCommand prints what a report may have left out.
func stateCommand() *cobra.Command {
	output := ""
	cmd := &cobra.Command{
		Use:   "state",
		Short: "Print this node's whole network state, as nmstate reads it now",
		Long: `state reads the node's network and prints all of it. A NodeNetworkState tells
at most 512 KiB of it, and leaves out interfaces that pods come and go with. The
command asks no API server, and changes nothing.`,
		Example: `  # In a cluster
  kubectl -n nmstate exec nmstate-handler-x7k2p -- handler state

  # How many interfaces of each type
  handler state -o json | jq '.interfaces | group_by(.type) | map({(.[0].type): length}) | add'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "" && output != outputJSON {
				return fmt.Errorf("%w: --output %q: there is json", errUsage, output)
			}
			return printState(cmd.Context(), cmd.OutOrStdout(), output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "json prints JSON instead of YAML")
	return cmd
}

func printState(ctx context.Context, out io.Writer, output string) error {
	executable, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	network, err := backend.New(backend.Options{Executable: executable, Clock: clock.RealClock{}})
	if err != nil {
		return err
	}
	current, err := network.Show(ctx)
	if err != nil {
		return err
	}
	var all []string
	for _, one := range current.Interfaces() {
		all = append(all, one.Name)
	}
	raw := append(state.Report(current, all...).WithoutSecrets().JSON(), '\n')
	if output != outputJSON {
		if raw, err = yaml.JSONToYAML(raw); err != nil {
			return fmt.Errorf("printing the network state: %w", err)
		}
	}
	_, err = out.Write(raw)
	return err
}

// serveState adds the whole report to what the metrics' port serves: for whom the API
// server lets, never openly.
func serveState(metrics *metricsserver.Options, whole func() (state.State, bool)) {
	if metrics.FilterProvider == nil {
		return
	}
	metrics.ExtraHandlers = map[string]http.Handler{statePath: http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		read, known := whole()
		switch {
		case request.Method != http.MethodGet:
			http.Error(response, "only GET is served", http.StatusMethodNotAllowed)
		case !known:
			http.Error(response, errNotRead.Error(), http.StatusServiceUnavailable)
		default:
			response.Header().Set("Content-Type", "application/json")
			_, _ = response.Write(read.JSON()) // A caller who has gone needs none.
		}
	})}
}

var errNotRead = errors.New("the node's network has not been read yet")
