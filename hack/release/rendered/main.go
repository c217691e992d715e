package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
)

func main() {
	if err := render(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "rendered:", err)
		os.Exit(1)
	}
}

func render(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: rendered CHART NAMESPACE [VALUES.YAML]")
	}
	chart, err := loader.LoadDir(args[0])
	if err != nil {
		return err
	}
	if err := chart.Validate(); err != nil {
		return err
	}
	own := common.Values{}
	if len(args) > 2 {
		if own, err = common.ReadValuesFile(args[2]); err != nil {
			return err
		}
	}
	values, err := util.ToRenderValues(chart, own, common.ReleaseOptions{Name: "nmstate", Namespace: args[1], IsInstall: true}, nil)
	if err != nil {
		return err
	}
	files, err := engine.Engine{}.Render(chart, values)
	if err != nil {
		return err
	}
	for _, crd := range chart.CRDObjects() {
		fmt.Printf("---\n%s\n", crd.File.Data)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, ".yaml") {
			fmt.Printf("---\n%s\n", files[name])
		}
	}
	return nil
}
