# Three servers under Patroni and one etcd. `bin/postgres` of each is a script that loads test/support/clock_shim.c, for
# a wall clock of its own. While a server starts, its clock is right, because Patroni compares the time in
# postmaster.pid with that of the process.
import json, os, signal, socket, struct, subprocess, time, urllib.error, urllib.request

DATABASE = "dbname=postgres user=postgres connect_timeout=2"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start(args, log, **options):
    with open(log, "ab") as out:
        return subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True, cwd=os.path.dirname(log), **options)


def until(what, look, seconds=120):
    end = time.monotonic() + seconds
    while True:
        try:
            if look():
                return
        except Exception as error:  # not there yet
            what_else = error
        else:
            what_else = ""
        if time.monotonic() > end:
            raise SystemExit(f"no end of waiting: {what} {what_else}")
        time.sleep(0.2)


# In place, because the server's processes have mapped the file.
def write_clock(file, offset):
    with open(file, "r+b" if os.path.exists(file) else "wb") as f:
        f.write(struct.pack("qq", int(offset * 1e9), 0))


class Etcd:
    def __init__(self, work):
        self.dir, self.log = f"{work}/etcd", f"{work}/log/etcd"
        self.port, self.peer = free_port(), free_port()
        self.start()

    def start(self):
        client, peer = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{self.peer}"
        self.process = start(["etcd", "--data-dir", self.dir, "--name", "one", "--listen-client-urls", client,
            "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
            "--initial-cluster", f"one={peer}", "--unsafe-no-fsync", "--heartbeat-interval", "50", "--election-timeout", "500"],
            self.log)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Node:
    def __init__(self, work, bin, shim, etcd, number, offset, synchronous):
        self.name, self.dir, self.work, self.offset = f"node{number}", f"{work}/node{number}", work, offset
        self.port, self.api, self.process = free_port(), free_port(), None
        os.makedirs(f"{self.dir}/bin")
        for program in os.listdir(bin):
            os.symlink(f"{bin}/{program}", f"{self.dir}/bin/{program}")
        os.remove(f"{self.dir}/bin/postgres")
        self.clock = f"{self.dir}/clock"
        self.wanted = f"{self.dir}/clock.wanted"
        write_clock(self.clock, 0)
        write_clock(self.wanted, offset)
        # Once Patroni has seen the new postmaster.pid.
        with open(f"{self.dir}/bin/postgres", "w") as f:
            f.write(f"""#!/bin/sh
case " $* " in *" -D "*)
    truncate -s 0 '{self.clock}'; truncate -s 16 '{self.clock}'
    (for i in $(seq 300); do
        [ "$(head -n 1 '{self.dir}/data/postmaster.pid' 2>/dev/null)" != $$ ] || break
        sleep 0.1
    done; sleep 1; dd if='{self.wanted}' of='{self.clock}' conv=notrunc status=none) >/dev/null 2>&1 &
    export LD_PRELOAD='{shim}' CLOCK_SHIM_OFFSET='{self.clock}' ;;
esac
exec '{bin}/postgres' "$@"
""")
        os.chmod(f"{self.dir}/bin/postgres", 0o755)
        # A standby further behind than the ceilings in WAL are ahead would repeat ids under a slow clock
        # (doc/guarantees.md), so none that is 64 kB behind is promoted.
        config = {
            "scope": "ids", "name": self.name, "log": {"level": "INFO"},
            "restapi": {"listen": f"127.0.0.1:{self.api}", "connect_address": f"127.0.0.1:{self.api}"},
            "etcd3": {"host": f"127.0.0.1:{etcd.port}"},
            "bootstrap": {
                "dcs": {"ttl": 6, "loop_wait": 1, "retry_timeout": 2, "maximum_lag_on_failover": 65536,
                    "synchronous_mode": synchronous, "synchronous_mode_strict": synchronous,
                    "postgresql": {"use_pg_rewind": True, "parameters": {
                        "wal_log_hints": True, "fsync": False, "max_connections": 60, "wal_keep_size": "256MB",
                        "max_wal_senders": 10, "hot_standby": True, "log_min_messages": "warning"}}},
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, {"auth": "trust"}]},
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}", "connect_address": f"127.0.0.1:{self.port}",
                "data_dir": f"{self.dir}/data", "bin_dir": f"{self.dir}/bin", "pgpass": f"{self.dir}/pgpass",
                "parameters": {"unix_socket_directories": self.dir},
                "pg_hba": ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust", "local all all trust"],
                "authentication": {"superuser": {"username": "postgres"}, "replication": {"username": "standby"},
                    "rewind": {"username": "postgres"}}},
            "watchdog": {"mode": "off"}}
        with open(f"{self.dir}/patroni.yml", "w") as f:
            json.dump(config, f)  # JSON is YAML
        self.start()

    def start(self):
        if self.process:
            self.process.wait()
        self.process = start(["patroni", f"{self.dir}/patroni.yml"], f"{self.work}/log/{self.name}")

    def set_clock(self, offset):
        self.offset = offset
        for file in self.wanted, self.clock:
            write_clock(file, offset)

    def postmaster(self):
        try:
            with open(f"{self.dir}/data/postmaster.pid") as f:
                return int(f.readline())
        except (OSError, ValueError):
            return None

    # Patroni, too, if the machine dies.
    def kill(self, machine=True):
        if machine:
            self.process.kill()
        self.signal_server(signal.SIGKILL)

    def signal_server(self, number):
        pid = self.postmaster()
        if pid is None:
            return
        children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()
        for one in [pid, *map(int, children)]:
            try:
                os.kill(one, number)
            except ProcessLookupError:
                pass

    def ask(self, path, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.api}/{path}", data=body and json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def is_leader(self):
        try:
            return self.ask("leader")[0] == 200
        except OSError:
            return False


class Cluster:
    def __init__(self, work, bin, shim, synchronous):
        os.makedirs(f"{work}/log")
        self.etcd = Etcd(work)
        # An hour apart: the first leader's clock is the latest but one.
        self.nodes = [Node(work, bin, shim, self.etcd, 0, 0, synchronous)]
        until("the first leader", self.leader)
        self.nodes += [Node(work, bin, shim, self.etcd, n, offset, synchronous) for n, offset in ((1, -3600), (2, 3600))]
        self.healthy()

    def dsn(self, first=0):
        nodes = self.nodes[first:] + self.nodes[:first]
        hosts, ports = ",".join("127.0.0.1" for _ in nodes), ",".join(str(n.port) for n in nodes)
        return f"host={hosts} port={ports} {DATABASE} target_session_attrs=read-write"

    def leader(self):
        return next((n for n in self.nodes if n.is_leader()), None)

    def members(self):
        for node in self.nodes:
            try:
                return json.loads(node.ask("cluster")[1])["members"]
            except (OSError, ValueError, KeyError):
                continue
        return []

    # One leader and two standbys that follow it. A standby whose WAL is not the leader's is made again, as an
    # administrator would.
    def healthy(self):
        made_again = time.monotonic() + 40

        def look():
            nonlocal made_again
            members = self.members()
            leader = next((m for m in members if m["role"] == "leader"), None)
            behind = [m["name"] for m in members if not leader or m.get("timeline") != leader["timeline"]
                or m["state"] not in ("running", "streaming")]
            if leader and behind and time.monotonic() > made_again:
                made_again = time.monotonic() + 40
                for node in self.nodes:
                    if node.name in behind:
                        node.ask("reinitialize", {"force": True})
            return len(members) == 3 and leader and not behind
        until("three healthy servers", look, 240)

    def timeline(self):
        return max((m.get("timeline") or 0 for m in self.members()), default=0)
