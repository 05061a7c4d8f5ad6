//! A client of junction-core, which is configured over delta xDS. It speaks the lines of test/e2e/clients/README.md, but calls nobody: what it
//! counts is the address that a target resolves to.
use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{HeaderMap, Method};
use junction_core::{Client, Url};
use serde_json::{json, Value};
use tokio::task::JoinHandle;

#[derive(Default)]
struct Counts {
    ok: BTreeMap<String, u64>,
    failed: BTreeMap<(&'static str, String), u64>,
    last: String,
}

impl Counts {
    fn resolved(&mut self, address: String) {
        self.last.clone_from(&address);
        *self.ok.entry(address).or_default() += 1;
    }

    fn failed(&mut self, code: &'static str, text: String) {
        self.last = code.to_string();
        *self.failed.entry((code, text)).or_default() += 1;
    }

    fn report(&self) -> Value {
        let failed: Vec<Value> = self
            .failed
            .iter()
            .map(|((code, text), count)| json!({ "code": code, "text": text, "count": count }))
            .collect();
        json!({ "ok": self.ok, "failed": failed, "last": self.last })
    }
}

/// One target that is resolved again and again.
struct Load {
    counts: Arc<Mutex<Counts>>,
    task: JoinHandle<()>,
}

async fn resolve_for_ever(client: Client, url: Url, period: Duration, deadline: Duration, counts: Arc<Mutex<Counts>>) {
    let headers = HeaderMap::new();
    let mut ticks = tokio::time::interval(period);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let outcome = tokio::time::timeout(deadline, client.resolve_http(&Method::GET, &url, &headers)).await;
        let mut counts = counts.lock().unwrap();
        match outcome {
            Ok(Ok(endpoint)) => counts.resolved(endpoint.addr().to_string()),
            Ok(Err(error)) => counts.failed("UNAVAILABLE", error.to_string()),
            Err(_) => counts.failed("DEADLINE_EXCEEDED", String::new()),
        }
    }
}

fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

fn number(value: &Value, path: &str) -> f64 {
    value.pointer(path).and_then(Value::as_f64).unwrap_or_default()
}

fn main() {
    let file = std::env::var("GRPC_XDS_BOOTSTRAP").expect("GRPC_XDS_BOOTSTRAP names a bootstrap file");
    let bootstrap: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let client = runtime
        .block_on(Client::build(
            format!("http://{}", text(&bootstrap, "/xds_servers/0/server_uri")),
            text(&bootstrap, "/node/id").to_string(),
            text(&bootstrap, "/node/cluster").to_string(),
        ))
        .expect("the server answers");
    let mut loads: BTreeMap<String, Load> = BTreeMap::new();
    println!("{}", json!({ "ready": true, "client": "junction", "version": env!("CARGO_PKG_VERSION") }));
    for line in std::io::stdin().lock().lines() {
        let command: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let mut answer = json!({ "id": command["id"] });
        let target = text(&command, "/target").to_string();
        match text(&command, "/do") {
            "add" => match format!("http://{target}").parse::<Url>() {
                Ok(url) => {
                    let counts = Arc::new(Mutex::new(Counts::default()));
                    let period = Duration::from_secs_f64(1.0 / number(&command, "/rate"));
                    let deadline = Duration::from_millis(number(&command, "/deadlineMs") as u64);
                    let task = runtime.spawn(resolve_for_ever(client.clone(), url, period, deadline, counts.clone()));
                    loads.insert(target, Load { counts, task });
                }
                Err(error) => answer["error"] = json!(error.to_string()),
            },
            "remove" => {
                if let Some(load) = loads.remove(&target) {
                    load.task.abort();
                }
            }
            "report" => {
                let reports: BTreeMap<&String, Value> =
                    loads.iter().map(|(name, load)| (name, load.counts.lock().unwrap().report())).collect();
                answer["targets"] = json!(reports);
            }
            "quit" => {}
            verb => answer["error"] = json!(format!("unknown command {verb}")),
        }
        println!("{answer}");
        if text(&command, "/do") == "quit" {
            break;
        }
    }
    runtime.shutdown_background();
}
