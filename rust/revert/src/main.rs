//! `nmstate-revert`: what exists only in nmstate's Rust API, as a program.
//!
//! Standard input: `{"desired": STATE, "current": STATE}`.
//! Standard output: the state that takes a node from "desired applied on
//! current" back to current. Nothing is read from or changed on the node.
//!
//! `nmstate-revert resolve` reads `{"policy": POLICY, "current": STATE}` and
//! writes `{"desired": STATE, "captured": {NAME: STATE}}`: what the policy comes
//! to, whole (the C interface leaves out what current has already), and what
//! each of its captures is.
//! An error is one JSON line `{"kind", "message"}` on standard error and exit
//! code 1; a kind is one of nmstate's own.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Write};
use std::process::ExitCode;

use nmstate::{ErrorKind, InterfaceType, NetworkPolicy, NetworkState, NmstateError};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    desired: NetworkState,
    current: NetworkState,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Resolve {
    policy: NetworkPolicy,
    current: NetworkState,
}

#[derive(Serialize)]
struct Resolved {
    desired: NetworkState,
    captured: BTreeMap<String, NetworkState>,
}

#[derive(Serialize)]
struct Failure {
    kind: String,
    message: String,
}

impl From<NmstateError> for Failure {
    fn from(error: NmstateError) -> Self {
        Failure {
            kind: error.kind().to_string(),
            message: error.msg().to_string(),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure {
            kind: ErrorKind::Bug.to_string(),
            message: error.to_string(),
        }
    }
}

fn invalid(error: serde_json::Error) -> Failure {
    Failure {
        kind: ErrorKind::InvalidArgument.to_string(),
        message: error.to_string(),
    }
}

/// Tells each port of what type its controller is. nmstate knows it of a node that it has
/// read itself, and leaves it out of what it writes; where it does not know it, a port
/// of a VRF is one that can have no address.
fn tell_controllers(state: &mut NetworkState) {
    let mut types: HashMap<String, InterfaceType> = HashMap::new();
    for one in state.interfaces.iter() {
        // An OVS bridge comes before its interface of the same name, which has no ports.
        types
            .entry(one.name().to_string())
            .or_insert_with(|| one.iface_type());
    }
    for port in state.interfaces.iter_mut() {
        let base = port.base_iface_mut();
        base.controller_type = base.controller.as_ref().and_then(|c| types.get(c).cloned());
    }
}

fn revert(input: &str) -> Result<String, Failure> {
    let mut request: Request = serde_json::from_str(input).map_err(invalid)?;
    tell_controllers(&mut request.current);
    let reverted = request.desired.generate_revert(&request.current)?;
    serde_json::to_string(&reverted).map_err(invalid)
}

fn resolve(input: &str) -> Result<String, Failure> {
    let request: Resolve = serde_json::from_str(input).map_err(invalid)?;
    let captured = request.policy.capture.execute(&request.current)?;
    let desired = request.policy.desired.fill_with_captured_data(&captured)?;
    let resolved = Resolved {
        desired,
        captured: captured.into_iter().collect(),
    };
    serde_json::to_string(&resolved).map_err(invalid)
}

const HELP: &str = r#"nmstate-revert computes the way back of a change. The handler calls it.

  nmstate-revert           reads {"desired": STATE, "current": STATE} from standard
                           input, writes the state that leads back to current
  nmstate-revert resolve   reads {"policy": POLICY, "current": STATE}, writes
                           {"desired": STATE, "captured": {NAME: STATE}}
  nmstate-revert --version

Nothing is read from or changed on the node. An error is one line of JSON on
standard error, with kind and message, and exit code 1."#;

/// What to do with standard input.
type Command = fn(&str) -> Result<String, Failure>;

/// The command that the arguments ask for, or what they want to be told.
fn command(arguments: &[String]) -> Result<Command, Result<String, Failure>> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => Ok(revert),
        ["resolve"] => Ok(resolve),
        ["--help" | "-h" | "help"] => Err(Ok(HELP.to_string())),
        // The version that matters is that of nmstate; hack/libnmstate.sh says it.
        ["--version"] => Err(Ok(format!(
            "nmstate-revert with nmstate {}",
            option_env!("NMSTATE_VERSION").unwrap_or("unknown")
        ))),
        _ => Err(Err(Failure {
            kind: ErrorKind::InvalidArgument.to_string(),
            message: format!(
                "unknown argument {:?}; nmstate-revert --help has them",
                words.join(" ")
            ),
        })),
    }
}

fn run() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let output = match command(&arguments) {
        Err(told) => told?,
        Ok(compute) => {
            let mut input = String::new();
            io::stdin().read_to_string(&mut input)?;
            compute(&input)?
        }
    };
    writeln!(io::stdout(), "{output}")?;
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let line = serde_json::to_string(&failure).unwrap_or(failure.message);
            // Nobody is left to tell when standard error is closed too.
            let _ = writeln!(io::stderr(), "{line}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{command, resolve, revert};

    #[test]
    fn help_and_version_are_told_and_other_arguments_refused() {
        let told = |word: &str| command(&[word.to_string()]);
        assert!(told("--help").is_err_and(|t| t.is_ok_and(|s| s.contains("resolve"))));
        assert!(told("--version").is_err_and(|t| t.is_ok_and(|s| s.starts_with("nmstate-revert "))));
        assert!(told("undo").is_err_and(|t| t.is_err_and(|f| f.message.contains("--help"))));
        assert!(told("resolve").is_ok() && command(&[]).is_ok());
    }

    #[test]
    fn a_policy_is_whole_although_the_node_has_it_and_its_captures_are_told() {
        let out = resolve(
            r#"{"policy": {"capture": {"nic": "interfaces.name == \"eth1\""},
                           "desiredState": {"interfaces": [{"name": "{{ capture.nic.interfaces.0.name }}", "type": "ethernet", "state": "up", "mtu": 1500}]}},
                "current": {"interfaces": [{"name": "eth0", "type": "ethernet", "state": "up"},
                                           {"name": "eth1", "type": "ethernet", "state": "up", "mtu": 1500}]}}"#,
        );
        assert!(out.is_ok_and(|s| s.matches("eth1").count() == 2 && !s.contains("eth0")));
    }

    #[test]
    fn a_changed_address_goes_back() {
        let out = revert(
            r#"{"desired": {"interfaces": [{"name": "eth1", "type": "ethernet", "mtu": 1400}]},
                "current": {"interfaces": [{"name": "eth1", "type": "ethernet", "state": "up", "mtu": 1500}]}}"#,
        );
        assert!(out.is_ok_and(|s| s.contains("1500")));
    }

    #[test]
    fn a_changed_address_of_a_port_of_a_vrf_goes_back() {
        let out = revert(
            r#"{"desired": {"interfaces": [
                    {"name": "eth1", "type": "ethernet", "state": "up", "ipv4": {"enabled": true, "dhcp": false,
                     "address": [{"ip": "203.0.113.11", "prefix-length": 24}]}},
                    {"name": "vrf1", "type": "vrf", "state": "up", "vrf": {"port": ["eth1"], "route-table-id": 100}}]},
                "current": {"interfaces": [
                    {"name": "eth1", "type": "ethernet", "state": "up", "controller": "vrf1", "ipv4": {"enabled": true, "dhcp": false,
                     "address": [{"ip": "203.0.113.10", "prefix-length": 24}]}},
                    {"name": "vrf1", "type": "vrf", "state": "up", "vrf": {"port": ["eth1"], "route-table-id": 100}}]}}"#,
        );
        assert!(out.is_ok_and(|s| s.contains("203.0.113.10") && !s.contains("203.0.113.11")));
    }

    #[test]
    fn what_is_no_state_is_refused_with_its_kind() {
        let out = revert(r#"{"desired": {"interfaces": 1}, "current": {}}"#);
        assert!(out.is_err_and(|f| f.kind == "InvalidArgument"));
    }
}
