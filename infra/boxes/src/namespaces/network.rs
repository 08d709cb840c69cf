//! The network: a switch in a namespace of its own, a cable to each box, and one to us.

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use stack::Guard;

/// How many networks there can be at a time: 198.18.0.0/15 is set aside for such trials (RFC 2544), and each takes 256 addresses.
const NETWORKS: u16 = 512;

/// The switch and what is plugged in. The guard takes it away, and nobody else: the number may be another's at once.
#[derive(Debug)]
pub(super) struct Network {
    number: u16,
    /// The boxes' names, in the order of their addresses.
    boxes: Vec<String>,
}

impl Network {
    /// A switch with our end plugged in. That its name can be taken only once tells the networks of a machine apart.
    pub(super) fn new(guard: &Guard) -> Result<Self> {
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
    pub(super) fn plug_in(&mut self, machine: &str, guard: &Guard) -> Result<Ipv4Addr> {
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

    pub(super) fn link(&self, machine: &str, state: &str) -> Result<()> {
        let place = self.boxes.iter().position(|name| name == machine);
        let place = place.with_context(|| format!("there is no box {machine:?}"))?;
        ip(&["-n", &self.switch(), "link", "set", &port(place), state])
    }

    /// What `ip` is called with to run the program in the box.
    pub(super) fn inside(&self, machine: &str, program: &Path) -> Vec<String> {
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

    pub(super) fn range(&self) -> String {
        let (second, third) = self.third();
        format!("198.{second}.{third}.0/24")
    }

    pub(super) fn ours(&self) -> Ipv4Addr {
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

pub(super) fn ip(arguments: &[&str]) -> Result<()> {
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
