//! Network namespaces of this machine as boxes: an own address each, and nothing shared but the processor, the disk and the clock.
//!
//! A namespace more holds a bridge, the switch that all are plugged into; it is in no box, so that rules that this machine has for
//! forwarding (Docker's, for one) do not reach it. One end of the switch is ours.

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, bail, ensure};

use crate::guard::Guard;

/// How many networks there can be at a time: 198.18.0.0/15 is set aside for such trials (RFC 2544), and each takes 256 addresses.
const NETWORKS: u16 = 512;

/// Tells trials of the same process apart.
static TRIALS: AtomicU32 = AtomicU32::new(0);

/// The switch and what is plugged in. The guard takes it away, and nobody else: the number may be another's at once.
#[derive(Debug)]
pub struct Network {
    number: u16,
    /// The boxes' names, in the order of their addresses.
    boxes: Vec<String>,
}

impl Network {
    /// What is missing here for making one, as a sentence; none if nothing is.
    #[must_use]
    pub fn missing() -> Option<String> {
        let Ok(version) = Command::new("ip").arg("-V").output() else {
            return Some("`ip` is not installed (Debian's package is iproute2)".to_owned());
        };
        let trial = format!(
            "conduit-{}-{}",
            std::process::id(),
            TRIALS.fetch_add(1, Ordering::Relaxed)
        );
        let made = version.status.success() && ip(&["netns", "add", &trial]).is_ok();
        let _ = ip(&["netns", "delete", &trial]);
        (!made).then(|| {
            "network namespaces cannot be made here: run this as root (in a container: with CAP_SYS_ADMIN and CAP_NET_ADMIN)".to_owned()
        })
    }

    /// A switch with our end plugged in. That its name can be taken only once tells the networks of a machine apart.
    ///
    /// # Errors
    /// We may not make network namespaces, or `ip` is not installed; see [`Network::missing`].
    pub fn new(guard: &Guard) -> Result<Self> {
        let first = std::process::id() % u32::from(NETWORKS);
        let first = u16::try_from(first).context("a number")?;
        for number in (0..NETWORKS).map(|offset| (first + offset) % NETWORKS) {
            let network = Self {
                number,
                boxes: Vec::new(),
            };
            if ip(&["netns", "add", &network.switch()]).is_ok() {
                guard.at_the_end(&format!("ip netns delete {}", network.switch()));
                guard.at_the_end(&format!("ip link delete {}", network.end()));
                network.switch_on()?;
                return Ok(network);
            }
        }
        bail!("all {NETWORKS} networks are in use; `ip netns list` shows by whom")
    }

    fn switch_on(&self) -> Result<()> {
        let (switch, end) = (self.switch(), self.end());
        ip(&["-n", &switch, "link", "add", "switch", "type", "bridge"])?;
        ip(&["-n", &switch, "link", "set", "switch", "up"])?;
        ip(&[
            "link", "add", &end, "type", "veth", "peer", "name", "host", "netns", &switch,
        ])?;
        ip(&["-n", &switch, "link", "set", "host", "master", "switch", "up"])?;
        ip(&["address", "add", &format!("{}/24", self.ours()), "dev", &end])?;
        ip(&["link", "set", &end, "up"])
    }

    /// The address of the box; it is made and plugged in where it is new.
    ///
    /// # Errors
    /// As [`Network::new`], or there are some 240 already.
    pub fn plug_in(&mut self, machine: &str, guard: &Guard) -> Result<Ipv4Addr> {
        if let Some(place) = self.boxes.iter().position(|name| name == machine) {
            return self.address(place);
        }
        let place = self.boxes.len();
        let (address, switch, port) = (self.address(place)?, self.switch(), port(place));
        self.boxes.push(machine.to_owned());
        let namespace = self.namespace(machine);
        ip(&["netns", "add", &namespace])?;
        guard.at_the_end(&format!("ip netns delete {namespace}"));
        let ends = ["type", "veth", "peer", "name", "eth0", "netns", &namespace];
        ip(&[&["-n", &switch, "link", "add", &port][..], &ends[..]].concat())?;
        ip(&["-n", &switch, "link", "set", &port, "master", "switch", "up"])?;
        ip(&[
            "-n",
            &namespace,
            "address",
            "add",
            &format!("{address}/24"),
            "dev",
            "eth0",
        ])?;
        ip(&["-n", &namespace, "link", "set", "lo", "up"])?;
        ip(&["-n", &namespace, "link", "set", "eth0", "up"])?;
        Ok(address)
    }

    /// Plugs a box's cable in (`up`) or out (`down`).
    ///
    /// # Errors
    /// There is no such box.
    pub fn link(&self, machine: &str, state: &str) -> Result<()> {
        let place = self.boxes.iter().position(|name| name == machine);
        let place = place.with_context(|| format!("there is no box {machine:?}"))?;
        ip(&["-n", &self.switch(), "link", "set", &port(place), state])
    }

    /// What `ip` is called with to run the program in the box; it becomes the program.
    #[must_use]
    pub fn inside(&self, machine: &str, program: &Path) -> Vec<String> {
        let namespace = self.namespace(machine);
        ["netns", "exec", &namespace, &program.display().to_string()]
            .map(str::to_owned)
            .into()
    }

    fn namespace(&self, machine: &str) -> String {
        format!("conduit-{}-{machine}", self.number)
    }

    /// No box is called this: their names have no dots.
    fn switch(&self) -> String {
        format!("conduit-{}.switch", self.number)
    }

    /// Our end of the cable.
    fn end(&self) -> String {
        format!("conduit-{}", self.number)
    }

    fn third(&self) -> (u8, u8) {
        let [high, low] = self.number.to_be_bytes();
        (18 + high, low)
    }

    /// All addresses, as `198.18.7.0/24`.
    #[must_use]
    pub fn range(&self) -> String {
        let (second, third) = self.third();
        format!("198.{second}.{third}.0/24")
    }

    /// The address of our end.
    #[must_use]
    pub fn ours(&self) -> Ipv4Addr {
        let (second, third) = self.third();
        Ipv4Addr::new(198, second, third, 1)
    }

    fn address(&self, place: usize) -> Result<Ipv4Addr> {
        let (second, third) = self.third();
        let last = u8::try_from(place + 10).ok().filter(|last| *last < 255);
        Ok(Ipv4Addr::new(198, second, third, last.context("too many boxes")?))
    }
}

fn port(place: usize) -> String {
    format!("port{place}")
}

fn ip(arguments: &[&str]) -> Result<()> {
    let output = Command::new("ip")
        .args(arguments)
        .output()
        .context("running ip")?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "ip {}: {}",
        arguments.join(" "),
        told.trim()
    );
    Ok(())
}
