package kind

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// link is what ip tells of one.
type link struct {
	Name    string `json:"ifname"`
	MAC     string `json:"address"`
	MTU     int    `json:"mtu"`
	Kind    string `json:"link_type"`
	Address []struct {
		Family string `json:"family"`
		Local  string `json:"local"`
	} `json:"addr_info"`
}

// reported is what a NodeNetworkState tells of an interface.
type reported struct {
	Name string `json:"name"`
	MAC  string `json:"mac-address"`
	MTU  int    `json:"mtu"`
	IPv4 struct {
		Address []struct {
			IP string `json:"ip"`
		} `json:"address"`
	} `json:"ipv4"`
}

func reporting() {
	It("every interface that a node's kernel has, with its addresses", func(ctx SpecContext) {
		pod := regexp.MustCompile("^veth[0-9a-f]{8}$")
		for _, n := range k.all() {
			var links []link
			Expect(json.Unmarshal([]byte(n.mustRun(ctx, "ip", "-json", "address", "show")), &links)).To(Succeed())
			Eventually(ctx, func(g Gomega) {
				found := interfacesOf(g, ctx, n)
				for _, l := range links {
					// Veths that nobody manages, as those of pods, are left out.
					if pod.MatchString(l.Name) {
						g.Expect(found).NotTo(HaveKey(l.Name))
						continue
					}
					g.Expect(found).To(HaveKey(l.Name))
					shown := found[l.Name]
					g.Expect(shown.MTU).To(Equal(l.MTU), l.Name)
					if l.Name != "lo" {
						g.Expect(strings.ToLower(shown.MAC)).To(Equal(l.MAC), l.Name)
					}
					for _, a := range l.Address {
						if a.Family == "inet" {
							g.Expect(shown.IPv4.Address).To(ContainElement(HaveField("IP", a.Local)), l.Name)
						}
					}
				}
			}).Should(Succeed())
		}
	}, SpecTimeout(specTimeout))

	wholeState()

	It("what somebody changes on a node", func(ctx SpecContext) {
		w := k.workers[0]
		w.mustRun(ctx, "ip", "link", "add", "e2e-hand", "type", "bridge")
		Eventually(ctx, func(g Gomega) { g.Expect(interfacesOf(g, ctx, w)).To(HaveKey("e2e-hand")) }).Should(Succeed())
		w.mustRun(ctx, "ip", "link", "delete", "e2e-hand")
		Eventually(ctx, func(g Gomega) { g.Expect(interfacesOf(g, ctx, w)).NotTo(HaveKey("e2e-hand")) }).Should(Succeed())
	}, SpecTimeout(specTimeout))

	It("in the columns of kubectl get, and in the older versions of the API", func(ctx SpecContext) {
		w := k.workers[0]
		k.become(ctx, manifest("columns", on(w), bridge("e2e-br", "10.30.0.1")), "columns", []*node{w})
		fields := func(kind string) [][]string {
			var rows [][]string
			for line := range strings.Lines(k.kubectl(ctx, "get", kind)) {
				rows = append(rows, strings.Fields(line))
			}
			return rows
		}
		policies := fields("nncp")
		Expect(policies).To(HaveLen(2))
		Expect(policies[0]).To(Equal([]string{"NAME", "STATUS", "REASON", "NODES", "AGE", "MESSAGE"}))
		Expect(policies[1]).To(HaveExactElements("columns", "Available", "SuccessfullyConfigured", "1/1", MatchRegexp(`^\d+m?\d*s?$`)), "and no message")
		enactments := fields("nnce")
		Expect(enactments).To(HaveLen(2))
		Expect(enactments[0]).To(Equal([]string{"NAME", "STATUS", "STATUS", "AGE", "REASON", "MESSAGE"}))
		Expect(enactments[1]).To(HaveExactElements(
			v1.EnactmentName(w.name, "columns"), "Available", MatchRegexp(`^\d+m?\d*s?$`), "SuccessfullyConfigured", "successfully", "reconciled"))
		states := fields("nns")
		Expect(states).To(HaveLen(1 + len(k.all())))
		Expect(states[0]).To(Equal([]string{"NAME", "MANAGED", "AVAILABLE", "DRIFT", "CHANGED"}))
		for _, version := range []string{"v1beta1", "v1alpha1"} {
			Expect(k.kubectl(ctx, "get", "nodenetworkconfigurationpolicies."+version+".nmstate.io")).To(ContainSubstring("columns"))
		}
		k.awaitEvents(ctx, "columns", "Configured")
	}, SpecTimeout(specTimeout))
}

func wholeState() {
	It("the whole state, in the handler's pod, and on its port to who may read it", func(ctx SpecContext) {
		w := k.workers[0]
		names := func(report string) []string {
			var whole struct {
				Interfaces []struct{ Name string }
			}
			ExpectWithOffset(1, yaml.Unmarshal([]byte(report), &whole)).To(Succeed())
			var names []string
			for _, one := range whole.Interfaces {
				names = append(names, one.Name)
			}
			return names
		}
		kernel := ContainElements("lo", "eth0", "eth1")
		pod := k.awaitHandler(ctx, w, "")
		Expect(names(k.kubectl(ctx, "-n", namespace, "exec", pod.Name, "--", "handler", "state"))).To(kernel)

		endpoint := fmt.Sprintf("%s:%d", w.address(ctx), handlerAt)
		report, err := k.ask(ctx, endpoint, "/state", k.token(ctx, "default", looker))
		Expect(err).NotTo(HaveOccurred())
		Expect(names(report)).To(kernel)
		_, err = k.ask(ctx, endpoint, "/state", k.token(ctx, "default", collector))
		Expect(err).To(MatchError(ContainSubstring("Forbidden")), "metrics may be read, the state not")
		_, err = k.ask(ctx, endpoint, "/state", "made.up")
		Expect(err).To(MatchError(ContainSubstring("You must be logged in to the server")))
	}, SpecTimeout(specTimeout))
}

func interfacesOf(g Gomega, ctx SpecContext, n *node) map[string]reported {
	nns, err := k.state(ctx, n)
	g.Expect(err).NotTo(HaveOccurred())
	var current struct {
		Interfaces []reported `json:"interfaces"`
	}
	g.Expect(json.Unmarshal(nns.Status.CurrentState.Raw, &current)).To(Succeed())
	found := map[string]reported{}
	for _, i := range current.Interfaces {
		found[i.Name] = i
	}
	return found
}
